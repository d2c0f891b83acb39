// Keys that hold only while an answer is under review; there they come before the others.

/** @import { Binding } from '../types' */

/** @type {Binding[]} */
export const REVIEW_BINDINGS = [
  ['reviewAccept', ['a'], 'While reviewing', 'Accept the answer', 'review'],
  ['reviewReject', ['r'], 'While reviewing', 'Reject the answer with a reason', 'review'],
  ['reviewFix', ['f'], 'While reviewing', 'Fix the answer with all tools; Enter saves the fix', 'review'],
  ['reviewQuality', ['m'], 'While reviewing', 'Mask: wrong or right', 'review'],
  ['reviewComplete', ['c'], 'While reviewing', 'Completeness: missing or complete', 'review'],
];
