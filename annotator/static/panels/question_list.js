export { QuestionList } from './question_box.js';
