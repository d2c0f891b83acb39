// Names of fields for programs, made of questions as engine/fields/names.py makes them.

const LONGEST = 56; // of 60: a number may follow
// Words in front of what a question asks for.
const LEAD =
  /^(what|which|who|when|where|how)('s)?\s+((is|are|was|were|does|do|did)\s+)?((the|this|that|it|a|an)\s+)?/i;
const BESIDE = new Set(['the', 'a', 'an', 'of', 'is', 'are', 'be', 'to', 'it', 'this']);
const ENDS = /^_+|_+$/g;

/**
 * "What is the invoice number?" becomes invoice_number.
 *
 * @param {string} question
 * @param {Set<string>} taken names that others have
 */
export function nameOfQuestion(question, taken) {
  const asked = question.trim().replace(LEAD, '') || question;
  const plain = [...asked.normalize('NFKD')].filter((letter) => letter <= '\u007f').join('');
  const words = plain.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  const telling = words.filter((word) => !BESIDE.has(word));
  let name = (telling.length ? telling : words).join('_').slice(0, LONGEST).replace(ENDS, '');
  if (!name) return numbered('field', taken, 1);
  if (!/^[a-z]/.test(name)) name = `field_${name}`.slice(0, LONGEST);
  return taken.has(name) ? numbered(name, taken, 2) : name;
}

/**
 * @param {string} name
 * @param {Set<string>} taken
 * @param {number} first
 */
function numbered(name, taken, first) {
  let number = first;
  while (taken.has(`${name}_${number}`)) number++;
  return `${name}_${number}`;
}
