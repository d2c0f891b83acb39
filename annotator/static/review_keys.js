// Keys that hold only while an answer is under review; there they come before the others.

// [name, keys, group, what it does, when], as in keyboard.js.
export const REVIEW_BINDINGS = [
  ['reviewAccept', ['a'], 'While reviewing', 'Accept the answer', 'review'],
  ['reviewReject', ['r'], 'While reviewing', 'Reject it, with a reason', 'review'],
  ['reviewFix', ['f'], 'While reviewing', 'Fix it with all tools; Enter saves the fix', 'review'],
  ['reviewQuality', ['m'], 'While reviewing', 'The mask is wrong, is right', 'review'],
  ['reviewComplete', ['c'], 'While reviewing', 'Something is missing, all is there', 'review'],
];
