import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { DatabaseKey, keyIdOf, parseDatabaseKey } from '../../src/domain/database-key.ts';

const key = new DatabaseKey(Buffer.from(Array.from({ length: 32 }, (_, at) => at * 7)));
const bytesOf = (each: DatabaseKey) => each.forCipher().toString('latin1');

describe('a database key on paper', () => {
  it('a paper key is four lines of four groups without ambiguous characters', () => {
    expect(key.reveal()).toHaveLength(4);
    for (const line of key.reveal())
      expect(line).toMatch(/^(?:[0-9A-HJKMNP-TV-Z]{4}-){3}[0-9A-HJKMNP-TV-Z]{4}$/);
  });

  it('a paper key can be typed with any blanks, dashes, and case', () => {
    for (let time = 0; time < 200; time += 1) {
      const made = new DatabaseKey(randomBytes(32));
      const read = parseDatabaseKey(made.reveal().join('\n'));
      expect(read).toBeInstanceOf(DatabaseKey);
      expect(bytesOf(read as DatabaseKey)).toBe(bytesOf(made));
    }
    const loose = key.reveal().join(' ').toLowerCase().replaceAll('-', '  ');
    const misread = loose.replaceAll('0', 'o').replaceAll('1', 'l');
    expect((parseDatabaseKey(misread) as DatabaseKey).id).toBe(key.id);
  });

  it('a typing error is reported with its line, without the key', () => {
    const lines = key.reveal();
    let unseen = 0;
    for (const [at, line] of lines.entries()) {
      for (let place = 0; place < line.length; place += 1) {
        if (line[place] === '-') continue;
        const other = line[place] === '7' ? '8' : '7';
        const typed = lines.with(at, line.slice(0, place) + other + line.slice(place + 1));
        const found = parseDatabaseKey(typed.join('\n'));
        if (found instanceof DatabaseKey) unseen += 1;
        else expect(found.fault).toContain(`line ${at + 1} `);
      }
    }
    expect(unseen).toBe(0);
  });

  it('swapped lines, missing characters, and foreign characters are errors', () => {
    const [first = '', second = '', third = '', fourth = ''] = key.reveal();
    const fault = (text: string) => (parseDatabaseKey(text) as { fault: string }).fault;
    expect(fault([second, first, third, fourth].join('\n'))).toContain('line 1 ');
    expect(fault([first, second, third].join('\n'))).toBe('It has 48 characters instead of 64.');
    expect(fault([first, second, third, fourth].join('\n').replace(/.$/, 'é'))).toBe(
      'The group 16 has a character that no key has.',
    );
    expect(fault('')).toBe('It has 0 characters instead of 64.');
  });

  it('a key does not appear when it is printed', () => {
    for (const shown of [`${key}`, JSON.stringify({ key }), inspect({ key })])
      expect(shown).toContain('[secret]');
  });

  it('the beginning of an encrypted file identifies its key', () => {
    const salt = /([0-9a-f]{32})'$/.exec(bytesOf(key))?.[1] ?? '';
    expect(keyIdOf(Buffer.from(salt, 'hex'))).toBe(key.id);
    expect(keyIdOf(Buffer.from('SQLite format 3\0'))).toBeNull();
    expect(keyIdOf(Buffer.from('eligd'))).toBeNull();
  });
});
