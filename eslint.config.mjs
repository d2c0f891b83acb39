// The front end is plain modules for browsers; its unit specs run in Node.js.
import js from '@eslint/js';
import globals from 'globals';

// Folders of the front end, the lowest first: a folder imports those before it. Types may be named from anywhere.
const FOLDERS = ['core', 'words', 'canvas', 'state', 'sync', 'tasks', 'panels', 'gradio', 'tabs', 'settings'];
const layers = FOLDERS.map((folder, at) => ({
  files: [`annotator/static/${folder}/**/*.js`],
  rules: {
    'no-restricted-imports': [
      'error',
      {
        patterns: [
          {
            group: ['../*.js', ...FOLDERS.slice(at + 1).map((above) => `../${above}/*`)],
            message: 'This folder lies below: see "The front end" in docs/architecture.md.',
          },
        ],
      },
    ],
  },
}));

export default [
  ...layers,
  { ignores: ['.venv/**', 'build/**', 'dist/**'] },
  js.configs.recommended,
  {
    files: ['annotator/static/**/*.js'],
    languageOptions: { ecmaVersion: 2024, sourceType: 'module', globals: globals.browser },
  },
  {
    files: ['tests/static/**/*.js', 'tests/support/*.mjs'],
    languageOptions: { ecmaVersion: 2024, sourceType: 'module', globals: globals.node },
  },
  {
    rules: {
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'no-var': 'error',
      'prefer-const': ['error', { destructuring: 'all' }],
      'no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'no-shadow-restricted-names': 'error',
      'no-implied-eval': 'error',
      'max-len': [
        'error',
        {
          code: 120,
          ignoreUrls: true,
          ignoreStrings: true,
          ignoreTemplateLiterals: true,
          ignorePattern: '@import|@typedef',
        },
      ],
      'max-lines': ['error', { max: 400, skipBlankLines: true, skipComments: true }],
    },
  },
];
