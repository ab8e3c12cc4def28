/** Faults of practice management systems that eligd polls over a network. */
import { createServer, type Server } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { json } from 'node:stream/consumers';
import type { Fault } from './fault.ts';
import type { SimulatedClinic } from './simulated-clinic.ts';

/** The FHIR server's answer to every request: nothing found, written, or a status. */
let status = 200;
/** The last resource that eligd wrote there. */
let kept: object | null = null;
let server: Server | null = null;

async function startFhir({ spare_port }: SimulatedClinic): Promise<void> {
  server = createServer(async (request, response) => {
    const written = await json(request).catch(() => null);
    const bundle = { resourceType: 'Bundle', type: 'searchset', total: 0, entry: [] };
    if (status === 200 && written !== null) kept = { ...(written as object), id: '1' };
    const is_kept = written !== null || /\/1(\/|$)/.test(request.url ?? '');
    const found = is_kept && kept !== null ? kept : bundle;
    const body = status === 200 ? found : { resourceType: 'OperationOutcome', issue: [] };
    response.writeHead(status, { 'content-type': 'application/fhir+json' });
    response.end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server?.listen(spare_port, '127.0.0.1', resolve));
}

async function stopFhir(): Promise<void> {
  const running = server;
  server = null;
  running?.closeAllConnections();
  await new Promise<void>((resolve) =>
    running === null ? resolve() : running.close(() => resolve()),
  );
}

const fhir: Fault['settings'] = ({ spare_port }) => ({
  connectors: [
    { id: 'ehr', type: 'fhir', base_url: `http://127.0.0.1:${spare_port}/fhir`, auth: 'none' },
  ],
});

let taken: ReturnType<typeof createTcpServer> | null = null;

function saying(code: number): Fault['begin'] {
  return () => {
    status = code;
  };
}

export const CONNECTOR_FAULTS: readonly Fault[] = [
  {
    name: 'the FHIR server rejects our login (401)',
    alert: 'connector_cannot_read',
    no: ['export'],
    settings: fhir,
    prepare: startFhir,
    begin: saying(401),
    end: saying(200),
  },
  {
    name: 'the FHIR server answers 500',
    alert: 'connector_cannot_read',
    no: ['export'],
    settings: fhir,
    prepare: startFhir,
    begin: saying(500),
    end: saying(200),
  },
  {
    name: 'the FHIR server is away',
    alert: 'connector_cannot_read',
    no: ['export'],
    settings: fhir,
    prepare: startFhir,
    begin: stopFhir,
    end: startFhir,
  },
  {
    name: 'the port for HL7 messages is taken',
    alert: 'connector_cannot_listen',
    no: ['export'],
    settings: ({ spare_port }) => ({
      connectors: [
        {
          id: 'interface',
          type: 'hl7',
          listen: `127.0.0.1:${spare_port}`,
          write_back: 'none',
        },
      ],
    }),
    prepare: async ({ spare_port }) => {
      taken = createTcpServer((socket) => socket.destroy());
      await new Promise<void>((resolve) => taken?.listen(spare_port, '127.0.0.1', resolve));
    },
    begin: () => {},
    end: async () => {
      await new Promise<void>((resolve) => taken?.close(() => resolve()));
    },
  },
];
