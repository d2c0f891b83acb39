// Types that several modules share. Those of requests and answers come from the OpenAPI document: `make lint` writes
// them to build/openapi.d.ts.

import type { AnnotationView, Candidate, Cell, Correction, WordEditsRequest, PageMark, paths, Proposal, ReviewRequest, RevisionRequest } from '../../build/openapi';

export type * from '../../build/openapi';

// --- the REST interface: a call names a path of the OpenAPI document, and its values, body and answer are checked

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

type Rest = { [P in keyof paths as P extends `/api${infer R}` ? R : never]: paths[P] };

type Operation<M extends Method, P> = P extends keyof Rest ? Rest[P][M] : never;

/** The paths, without "/api", that take a method. */
export type Path<M extends Method> = {
  [P in keyof Rest]: Rest[P][M] extends { responses: unknown } ? P : never;
}[keyof Rest];

type InPath<O> = O extends { parameters: { path: infer V } } ? V : unknown;
type InQuery<O> = O extends { parameters: { query?: infer V } } ? ([V] extends [undefined] ? unknown : NonNullable<V>) : unknown;

/** What stands in the address of a call: the names in the path, and the query. */
export type Values<M extends Method, P> = InPath<Operation<M, P>> & InQuery<Operation<M, P>>;

type JsonOf<R> = R extends { content: { 'application/json': infer V } } ? V : null;

/** What a call sends as JSON; undefined where it sends nothing. */
export type Body<M extends Method, P> =
  Operation<M, P> extends { requestBody: infer R }
    ? JsonOf<NonNullable<R>>
    : Operation<M, P> extends { requestBody?: infer R }
      ? [R] extends [undefined]
        ? undefined
        : JsonOf<NonNullable<R>> | undefined
      : undefined;

/** What a call that succeeds is answered with. */
export type Answer<M extends Method, P> =
  Operation<M, P> extends { responses: infer R } ? JsonOf<R[keyof R]> : never;

export interface RequestOptions {
  /** Ends the request; without it, time does. */
  signal?: AbortSignal;
  /** The request outlives the page that sends it. */
  keepalive?: boolean;
  headers?: Record<string, string>;
}

// --- elements

type Listeners = { [K in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[K]) => unknown } & {
  'glossator:filled'?: (event: Event) => unknown;
};

export interface Attributes {
  on?: Listeners;
  dataset?: Record<string, string | undefined>;
  [name: string]: unknown;
}

/** What may stand among the children of an element; what is missing or false is left out. */
export type Child = Node | string | null | undefined | false | readonly Child[];

/** What a dialog or a message offers to do. */
export interface Action {
  label: string;
  run: () => unknown;
  primary?: boolean;
}

// --- keys

/**
 * When a command holds: while somebody marks or fixes words, while an answer is under review, or while the form is
 * shown. Without it, always.
 */
export type When = 'marking' | 'mending' | 'review' | 'form';

/** A command with its usual chords ("Mod+Shift+z"), its group in the help, and what it does. */
export type Binding = [name: string, chords: string[], group: string, text: string, when?: When];

/** What a chord is read from. */
export type KeyPress = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'> &
  Partial<Pick<KeyboardEvent, 'code' | 'getModifierState'>>;

// --- geometry; pixels of the rendered page unless said otherwise

/** [x0, y0, x1, y1]; x1 and y1 lie outside. */
export type Box = [number, number, number, number];
export type XY = [number, number];

/** [x, y, whether it lies inside the answer] */
export type Point = [number, number, boolean];

// --- what is marked

/** What is marked on one page. A plain value, never changed in place. */
export type Mark = PageMark;

/** What a mark and a prediction of the model have in common: words and pixels. */
export type Marked = Pick<Mark, 'words' | 'mask'>;

/** What stood on a page before or after a step; `no_answer` only where the step changed that, too. */
export interface Moment {
  mark: Mark;
  /** the value whose mark it is, where the answer has several */
  place?: number;
  /** what was said of its text, where the step changed that */
  correction?: Correction | null;
  /** all values, where the step added or removed one */
  parts?: AnswerPart[];
  no_answer?: boolean;
  /** marks of other pages that the step changed, too */
  others?: Record<string, Mark>;
}

/** One value of an answer: its marks by page, and what a person said of its text. */
export interface AnswerPart {
  pages: Record<string, Mark>;
  correction: Correction | null;
  /** its place in a table */
  cell?: Cell | null;
  /** an empty cell in hand, of which the server knows nothing; it stands last */
  fresh?: true;
}

/** Where the two marks of a page come from: what the model said, or what a person made. */
export type Origin = 'model' | 'person';

/** A step from one state of an answer to another, as the server applies it. */
export type Edit = NonNullable<RevisionRequest['edits']>[number];

/** A change in the words of a page. */
export type WordEdit = WordEditsRequest['edits'][number];

/** The answer that is open, as this window holds it: what the server said, with what waits in the queue on top. */
export interface OpenedAnswer extends AnnotationView {
  no_answer: boolean;
  /** its values, one at least */
  parts: AnswerPart[];
  /** the value in hand */
  place: number;
  /** marks of the value in hand: page id -> mark */
  pages: Record<string, Mark>;
  /** everything that the model has said of it in this window */
  predictions: (Marked & { page_id: string })[];
  /** page id -> what the model proposed there last */
  proposals: Record<string, Proposal>;
  /** the prediction that the next revision names as its source */
  prediction_id: string | null;
}

/** What is held while a stroke begins; `drawing`: the keyboard's cross draws a box, which may begin on a word. */
export type Press = Pick<MouseEvent, 'shiftKey' | 'altKey'> &
  Partial<Pick<PointerEvent, 'ctrlKey' | 'metaKey' | 'pointerType'>> & { drawing?: boolean };

/** Where the keyboard's cursor is: on a word, by its position on the page, or on a point of it. */
export type CursorPlace = { word: number; point?: undefined } | { point: XY; word?: undefined };

/** A stroke on the page: see canvas/tools.js. */
export type Stroke =
  /** keeps: what stands elsewhere stays, even a proposal that nobody has touched */
  | { tool: string; edits: Edit[]; keeps?: boolean; prompt?: undefined; mend?: undefined; moves?: undefined }
  | { tool: string; prompt: { point?: Point; box?: Box; add?: boolean }; edits?: undefined; mend?: undefined; moves?: undefined }
  | { tool: string; mend: WordWish; edits?: undefined; prompt?: undefined; moves?: undefined }
  /** an edge of the table was dragged */
  | { tool: string; moves: Map<number, Cell | null>; edits?: undefined; prompt?: undefined; mend?: undefined };

/** What the tool for words asks for. */
export interface WordWish {
  open?: number;
  choose?: number[];
  add?: Box;
}

// --- what waits in the save queue

interface Waiting {
  /** the idempotency key */
  key: string;
  /** who made the edit */
  user: string;
  /** the window that made it */
  tab: string;
  /** order of making; never the same twice in one window */
  sequence: number;
  /** the key of the item that this one builds on, while that waits itself */
  after: string | null;
  /** the revision that this item builds on, once that is known */
  base: number | null;
  /** what it changes: the id of an answer, or "words:" and the id of a page */
  annotation: string;
  document: string;
  question?: string;
}

/** What stands in the answer after the edits. */
interface After {
  pages: Record<string, Mark>;
  /** page -> version of its image as it was seen; none in items of earlier versions of this program */
  images?: Record<string, string>;
  no_answer: boolean;
  /** the value whose marks `pages` are */
  place?: number;
  /** all values, where there are several or something was said of a text */
  parts?: AnswerPart[];
}

export interface RevisionItem extends Waiting, After {
  kind: 'revision';
  action: NonNullable<RevisionRequest['action']>;
  edits: Edit[];
  prediction_id: string | null;
  seconds: number;
  interactions: Record<string, number>;
}

/** A reviewer's verdict, without the edits that may go with it. */
export type VerdictWords = Pick<ReviewRequest, 'verdict' | 'quality' | 'completeness' | 'reason' | 'becomes_label'>;

export interface VerdictItem extends Waiting, After {
  kind: 'verdict';
  action: ReviewRequest['verdict'];
  verdict: VerdictWords;
  edits: Edit[];
  seconds: number;
}

export interface WordsItem extends Waiting {
  kind: 'words';
  page: string;
  edits: WordEdit[];
  /** numbers of the words that the edits make */
  created: number[];
}

export type QueuedItem = RevisionItem | VerdictItem | WordsItem;

type Given<T> = T extends unknown ? Omit<T, 'key' | 'user' | 'tab' | 'sequence' | 'after' | 'base'> & { sequence?: number } : never;

/** What is put into the queue: the queue adds key, place and base. */
export type QueueContent = Given<QueuedItem>;

/** What the server says of a stored item. */
export interface Stored {
  revision: number;
  saved_at?: string;
}

/** Why an item waits for a person. */
export interface Halt {
  kind: 'conflict' | 'refused' | 'gone';
  sentence: string;
  /** what the server holds, where it said so */
  current: unknown;
}

declare global {
  interface Window {
    /** Loads Gradio's script; written into the page by annotator/gradio/head.py. */
    startGradio?: () => void;
  }
}
