import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { EligdError } from '../../domain/errors.ts';
import type { Output } from '../context.ts';

/** Asks questions line by line; answers may also come from a pipe. */
export type Asker = {
  /** An empty answer takes `or`; without `or`, the question is repeated. */
  ask: (question: string, or?: string) => Promise<string>;
  /** Hides the typed text. */
  askSecret: (question: string) => Promise<string>;
  close: () => void;
};

export function openAsker(to: Output): Asker {
  let is_hidden = false;
  const output = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      if (!is_hidden) to.write(chunk.toString());
      done();
    },
  });
  const terminal = process.stdin.isTTY === true;
  const lines = createInterface({ input: process.stdin, output, terminal });
  // Ctrl-C ends the command as it would without the terminal's line editor.
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  const answers = lines[Symbol.asyncIterator]();
  const next = async (prompt: string): Promise<string> => {
    to.write(prompt);
    const { value, done } = await answers.next();
    if (done) throw ended();
    return String(value).trim();
  };
  return {
    ask: async (question, or) => {
      for (;;) {
        const answer = (await next(`${question}${or === undefined ? '' : ` [${or}]`}: `)) || or;
        if (answer !== undefined) return answer;
      }
    },
    askSecret: async (question) => {
      const name = question.replace(/ \(auth: .*\)$/, '');
      const shown = `${name.charAt(0).toUpperCase()}${name.slice(1)} (not shown): `;
      is_hidden = terminal;
      try {
        return await next(shown);
      } finally {
        is_hidden = false;
        if (terminal) to.write('\n');
      }
    },
    close: () => lines.close(),
  };
}

function ended(): EligdError {
  return new EligdError('usage', {
    what: 'The input ended before all questions were answered; nothing was written.',
    why: 'Standard input was closed.',
    next: 'Run the command in a terminal, or pass every answer as a flag with --yes.',
  });
}
