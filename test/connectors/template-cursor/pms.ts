/** The PMS of the template, played by the test: an HTTP server with a list of changes. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { TestPms } from '../../../connectors/conformance/harness.ts';
import type { AppointmentInput } from '../../../src/domain/appointment.ts';

/** `refuse`: paths to which the PMS answers with this status. */
export type HttpPms = TestPms & { refuse: Map<string, number> };

export async function makePms(): Promise<HttpPms> {
  const changes: unknown[] = [];
  const stored = new Map<string, string>();
  const refuse = new Map<string, number>();
  const answer = async (request: IncomingMessage): Promise<[number, string]> => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://pms');
    const refused = refuse.get(pathname);
    if (refused !== undefined) return [refused, 'Quillfeather'];
    if (request.method === 'PUT') {
      stored.set(pathname, await text(request));
      return [204, ''];
    }
    const from = Number(searchParams.get('since'));
    const to = Math.min(from + Number(searchParams.get('limit')), changes.length);
    const page = { changes: changes.slice(from, to), next: `${to}`, more: to < changes.length };
    return [200, JSON.stringify(page)];
  };
  const server = createServer((request, response) => {
    void answer(request).then(([status, body]) => response.writeHead(status).end(body));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return {
    config: { base_url: `http://127.0.0.1:${port}` },
    offer: async ({ appointments, broken_items = [] }) => {
      const items: unknown[] = appointments.map(toChange);
      for (const [index, begins] of broken_items.entries())
        items.splice(index + 1, 0, { visit_id: 'broken', begins });
      changes.push(...items);
    },
    offerGarbage: async (garbage) => void changes.push(garbage),
    // An emptied attention list is the same as one that was never written.
    written: async () => [...stored].filter(([, body]) => body !== '[]').toSorted(),
    close: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
    refuse,
  };
}

function toChange(one: AppointmentInput): unknown {
  if (one.status === 'cancelled') return { visit_id: one.source_id, deleted: true };
  const { id, ...patient } = one.patient;
  return {
    visit_id: one.source_id,
    begins: one.starts_at,
    patient: { number: id, ...patient },
    policies: one.coverages.map(({ carrier, payor_id, member_id, group_id }) => ({
      payer: carrier,
      payer_code: payor_id,
      member_id,
      group_id,
    })),
  };
}
