/** Splits a payer's words into tokens and reads the numbers among them, in linear time. */

/** Longer texts are descriptions, not limits; they remain words. */
const TEXT_CHARS_MAX = 300;

const TOKEN = /d\d{4}(?!\d)|\d+(?:\.\d+)?|[a-z]+|[^\s\w]/g;

const SMALL = [
  ...['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'],
  ...['eleven', 'twelve', 'thirteen', 'fourteen', 'fifteen', 'sixteen', 'seventeen', 'eighteen'],
  ...['nineteen', 'twenty'],
];

const TENS = ['twenty', 'thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty', 'ninety'];

const NUMBERS: ReadonlyMap<string, number> = new Map([
  ...SMALL.map((word, value): [string, number] => [word, value]),
  ...TENS.map((word, index): [string, number] => [word, 10 * (index + 2)]),
]);

/** Returns the tokens in lower case, without quotation marks. Null: too long to be a limit. */
export function tokensOf(text: string): string[] | null {
  if (text.length > TEXT_CHARS_MAX) return null;
  const plain = text
    .toLowerCase()
    .replaceAll(/["'’‘“”*]/g, '')
    .replaceAll(/[–—]/g, '-');
  return joinedTens(plain.match(TOKEN) ?? []);
}

/** Joins `forty - eight` and `forty eight` into one number. */
function joinedTens(tokens: readonly string[]): string[] {
  const joined: string[] = [];
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at] ?? '';
    const behind = tokens[at + 1] === '-' ? at + 2 : at + 1;
    const ones = SMALL.indexOf(tokens[behind] ?? '');
    const is_whole = TENS.includes(token) && ones > 0 && ones < 10;
    joined.push(is_whole ? String((NUMBERS.get(token) ?? 0) + ones) : token);
    if (is_whole) at = behind;
  }
  return joined;
}

/** Returns a whole number from its digits or its word; null for anything else. */
export function numberOf(token: string | undefined): number | null {
  if (token === undefined) return null;
  if (/^\d{1,3}$/.test(token)) return Number(token);
  return NUMBERS.get(token) ?? null;
}

/** A position in the tokens, and the operations that readers need. */
export class Cursor {
  at = 0;
  readonly tokens: readonly string[];

  constructor(tokens: readonly string[]) {
    this.tokens = tokens;
  }

  get isDone(): boolean {
    return this.at >= this.tokens.length;
  }

  peek(ahead = 0): string | undefined {
    return this.tokens[this.at + ahead];
  }

  /** Skips these words if they come next, in this order. */
  take(...words: string[]): boolean {
    if (!words.every((word, index) => this.peek(index) === word)) return false;
    this.at += words.length;
    return true;
  }

  takeAny(words: ReadonlySet<string>): string | null {
    const token = this.peek();
    if (token === undefined || !words.has(token)) return null;
    this.at += 1;
    return token;
  }

  skip(words: ReadonlySet<string>): void {
    while (this.takeAny(words) !== null);
  }

  /** Reads a number, including the double form in contracts: `one (1)`. */
  takeNumber(): number | null {
    const value = numberOf(this.peek());
    if (value === null) return null;
    this.at += 1;
    if (this.peek() === '(' && numberOf(this.peek(1)) === value && this.peek(2) === ')')
      this.at += 3;
    return value;
  }

  /** Tries a reader; if it finds nothing, returns to the previous place. */
  attempt<Value>(read: () => Value | null): Value | null {
    const before = this.at;
    const value = read();
    if (value === null) this.at = before;
    return value;
  }
}
