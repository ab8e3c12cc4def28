import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Source } from '../../connectors/conformance/harness.ts';
import { connectorSuite } from '../../connectors/conformance/suite.ts';
import hl7 from '../../connectors/hl7/index.ts';
import { brokenSiu, dft, siu } from './hl7/messages.ts';
import { field, framed, freePort, RawSender, Receiver } from './hl7/peers.ts';

function messagesOf({ appointments, broken_items = [] }: Source): string[] {
  const messages = appointments.map((each) => siu(each));
  for (const [index, time] of broken_items.entries())
    messages.splice(index + 1, 0, brokenSiu(`broken-${index}`, time));
  return messages;
}

connectorSuite('hl7 over MLLP', {
  type: hl7,
  makePms: async () => {
    const receiver = await Receiver.start();
    const port = await freePort();
    let waiting: string[] = [];
    const send = async (messages: readonly string[]) => {
      const sender = await RawSender.to(port);
      sender.write(Buffer.concat(messages.map(framed)));
      const answered = new Set(
        (await sender.heard(messages.length)).map((answer) => field(answer, 'MSA', 2)),
      );
      sender.close();
      waiting = messages.filter((message) => !answered.has(field(message, 'MSH', 10)));
    };
    return {
      config: { listen: `127.0.0.1:${port}`, send_to: `127.0.0.1:${receiver.port}` },
      offer: (source) => send(messagesOf(source)),
      offerClaims: ({ claims }) => send(claims.map((claim) => dft(claim))),
      offerAgain: () => send(waiting),
      unacknowledged: async () => waiting.length,
      written: async () => receiver.kept(),
      close: () => receiver.close(),
    };
  },
});

connectorSuite('hl7 by files', {
  type: hl7,
  makePms: async () => {
    const folder = await mkdtemp(join(tmpdir(), 'eligd-hl7-'));
    const names = async (part: string) =>
      (await readdir(join(folder, part)).catch(() => [])).toSorted();
    return {
      config: { folder },
      offer: async (source) => {
        await mkdir(join(folder, 'inbox'), { recursive: true });
        await writeFile(
          join(folder, 'inbox', `${source.name}.hl7`),
          `${messagesOf(source).join('\r')}\r`,
        );
      },
      offerClaims: async ({ name, claims }) => {
        await mkdir(join(folder, 'inbox'), { recursive: true });
        await writeFile(
          join(folder, 'inbox', `${name}.hl7`),
          `${claims.map((claim) => dft(claim)).join('\r')}\r`,
        );
      },
      unacknowledged: async () =>
        (await names('inbox')).length + (await names('processing')).length,
      written: async () =>
        await Promise.all(
          (await names('outbox')).map(async (name) => [
            name,
            await readFile(join(folder, 'outbox', name), 'utf8'),
          ]),
        ),
      close: () => rm(folder, { recursive: true }),
    };
  },
});
