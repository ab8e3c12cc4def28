/** Reads the services that a frequency limit counts, as payers' staff name them. */
import type { Cursor } from './tokens.ts';

/** Words that name no particular service. */
const NOUNS = new Set([
  ...['x', 'time', 'times', 'visit', 'visits', 'service', 'services', 'treatment', 'treatments'],
  ...['procedure', 'procedures', 'set', 'sets', 'series', 'application', 'applications'],
  ...['occurrence', 'occurrences', 'session', 'sessions'],
  ...['total', 'allowed', 'covered', 'only', 'of', 'payable', 'ea'],
]);
/** Words for one service, and its dental codes: a limit on it limits no other code. */
const SERVICES: readonly (readonly [codes: RegExp, words: readonly string[]])[] = [
  [/^D01/, ['exam', 'exams', 'examination', 'examinations', 'evaluation', 'evaluations']],
  [
    /^D(?:1110|1120|4346|4910)$/,
    ['cleaning', 'cleanings', 'prophylaxis', 'prophylaxes', 'prophy', 'prophys', 'prophies'],
  ],
  [/^D12/, ['fluoride']],
  [/^D0330$/, ['panoramic', 'pano']],
  [/^D0210$/, ['fmx']],
  [/^D027/, ['bitewing', 'bitewings']],
  [/^D135/, ['sealant', 'sealants']],
  [/^D(?:27|29[23]|60[5-9]|67)/, ['crown', 'crowns']],
  [/^D(?:5[128]|611)/, ['denture', 'dentures']],
  [/^D6[01]/, ['implant', 'implants']],
  [/^D2[123]/, ['filling', 'fillings']],
];
const CODES_OF: ReadonlyMap<string, RegExp> = new Map(
  SERVICES.flatMap(([codes, words]) => words.map((word): [string, RegExp] => [word, codes])),
);
/** Images are counted one by one, but one code may stand for four: "4 bitewings per year". */
const ANY_IMAGE = new Set(['film', 'films', 'image', 'images', 'xray', 'xrays', 'ray', 'rays']);
const IMAGES = new Set([...ANY_IMAGE, 'bitewing', 'bitewings']);
const SETS = new Set(['set', 'sets', 'series']);
const CODE = /^d\d{4}$/;

/** Reads the named services. Null if one code may stand for several of what is counted. */
export function takeServices(cursor: Cursor, count: number | null): string[] | null {
  const nouns = takeNouns(cursor);
  const is_single = count === null || count === 1 || nouns.some((noun) => SETS.has(noun));
  if (!is_single && nouns.some((noun) => IMAGES.has(noun))) return null;
  return nouns.filter((noun) => CODES_OF.has(noun));
}

function takeNouns(cursor: Cursor): string[] {
  const from = cursor.at;
  while (!cursor.isDone && isNoun(cursor.peek() ?? '')) cursor.at += 1;
  return cursor.tokens.slice(from, cursor.at);
}

const isNoun = (token: string) => NOUNS.has(token) || CODES_OF.has(token) || ANY_IMAGE.has(token);

/**
 * Returns whether limits that name these services can all be limits of one code: the code
 * represents each service, and no two limits name different services. Only dental codes are known
 * by service.
 */
export function areOfOneCode(named: readonly (readonly string[])[], code: string | null): boolean {
  const services = named.map((words) => words.map((word) => CODES_OF.get(word)));
  if (code !== null && /^D\d{4}$/.test(code))
    if (!services.flat().every((codes) => codes?.test(code))) return false;
  const each = services.filter((codes) => codes.length > 0).map((codes) => codes.map(String));
  return new Set(each.map((codes) => [...new Set(codes)].sort().join(' '))).size <= 1;
}

/** Reads codes joined by `and`, `or`, `,`, and `/`. */
export function takeCodes(cursor: Cursor): string[] {
  const codes: string[] = [];
  for (;;) {
    const token = cursor.peek() ?? '';
    if (!CODE.test(token)) return codes;
    codes.push(token.toUpperCase());
    cursor.at += 1;
    if (JOINTS.has(cursor.peek() ?? '') && CODE.test(cursor.peek(1) ?? '')) cursor.at += 1;
  }
}

/** Without the hyphen, which would mean a range of codes. */
const JOINTS = new Set(['and', 'or', ',', '/', '&']);
/** Words that describe a service in a list more precisely. */
const KINDS = new Set([
  ...['perio', 'periodontal', 'maintenance', 'scaling', 'root', 'planing', 'debridement', 'deep'],
  ...['full', 'mouth', 'complete', 'intraoral', 'vertical', 'periapical', 'periapicals', 'pa'],
  ...['emergency', 'limited', 'comprehensive', 'periodic', 'problem', 'focused', 'oral', 'routine'],
  ...['regular', 'other', 'all', 'any', 'both', 'either', 'the', 'adult', 'child', 'topical'],
  ...['varnish', 'code', 'codes', 'bridge', 'bridges', 'partial', 'partials', 'inlay', 'inlays'],
  ...['onlay', 'onlays', 'veneer', 'veneers', 'x', 'visit', 'visits', 'service', 'services'],
  ...['treatment', 'treatments', 'procedure', 'procedures', 'set', 'sets', 'series'],
  ...['application', 'applications'],
]);
const ENDS = new Set([',', ';', '.', '(', ')', 'and', 'but', '&', '-']);

/**
 * Reads `D1120`, `cleanings`, `D4910 or perio maintenance`: services, their codes, and nothing
 * else. Null: no service, or the sentence continues and may say more about them.
 */
export function takeList(cursor: Cursor): { codes: string[]; has_words: boolean } | null {
  const list = { codes: [] as string[], has_words: false };
  const isListed = (token = '') =>
    CODE.test(token) || KINDS.has(token) || CODES_OF.has(token) || ANY_IMAGE.has(token);
  for (;;) {
    const token = cursor.peek() ?? '';
    if (CODE.test(token)) list.codes.push(...takeCodes(cursor));
    else if (isListed(token)) {
      list.has_words = true;
      cursor.at += 1;
    } else if (JOINTS.has(token) && isListed(cursor.peek(1))) cursor.at += 1;
    else if (token === '-' && isListed(cursor.peek(1)) && !CODE.test(cursor.peek(1) ?? ''))
      cursor.at += 1;
    else if (token === ',' && JOINTS.has(cursor.peek(1) ?? '') && isListed(cursor.peek(2)))
      cursor.at += 2;
    else break;
  }
  const is_whole = cursor.isDone || ENDS.has(cursor.peek() ?? '');
  return is_whole && (list.codes.length > 0 || list.has_words) ? list : null;
}
