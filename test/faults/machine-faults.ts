/** Faults of the clinic's computer: its clock, disk, database, ports and power. */
import {
  chmodSync,
  copyFileSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer as createTcpServer, type Server } from 'node:net';
import { join } from 'node:path';
import type { Fault } from './fault.ts';
import { refuseWrites, showFreeBytes } from './machine.ts';
import { DAY_MS, HOUR_MS, type SimulatedClinic, webhookAt } from './simulated-clinic.ts';

const FIXTURES = join(import.meta.dirname, '../fixtures/tls');
const DATABASE = 'state/eligd.db';

function ahead(by_ms: number): Fault['begin'] {
  return (clinic) => {
    clinic.clock.ahead_ms = by_ms;
  };
}

function losing(clinic: SimulatedClinic): void {
  for (const end of ['', '-wal', '-shm']) rmSync(clinic.path(DATABASE + end), { force: true });
}

/** The first export after that backup. */
const BACKED_UP = 'appointments-2030-03-26';

/** The newest one from before the fault; a new database has its own backups. */
const goodBackup = (clinic: SimulatedClinic) =>
  clinic.path('state/backups', 'eligd-20300326-083000.db');

async function restore(clinic: SimulatedClinic): Promise<void> {
  await clinic.turnOff();
  const { code, stderr } = await clinic.command('restore', goodBackup(clinic));
  if (code !== 0) throw new Error(`eligd restore ended with ${code}: ${stderr}`);
  // By the times on this machine's disk, "restore" finds no file that was read since the backup.
  const processed = clinic.path('dropbox/processed');
  for (const name of readdirSync(processed).filter((each) => each > BACKED_UP))
    renameSync(join(processed, name), clinic.path('dropbox/inbox', name));
  await clinic.turnOn();
}

async function release(clinic: SimulatedClinic): Promise<void> {
  await clinic.command('release', 'submission');
}

let held: Server | null = null;

/** Another program's server, which closes every connection. */
async function takePort(port: number): Promise<void> {
  const server = createTcpServer((socket) => socket.destroy());
  held = server;
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
}

async function freeHeld(): Promise<void> {
  const server = held;
  held = null;
  await new Promise<void>((resolve) =>
    server === null ? resolve() : server.close(() => resolve()),
  );
}

function damageSecondHalf(file: string): void {
  const bytes = readFileSync(file);
  for (let page = Math.ceil(bytes.length / 8192); page * 4096 < bytes.length; page += 3)
    bytes.fill(0xa5, page * 4096, page * 4096 + 2048);
  writeFileSync(file, bytes);
}

export const MACHINE_FAULTS: readonly Fault[] = [
  {
    name: 'the clock is three days ahead',
    alert: 'clock_wrong',
    no: ['clock'],
    lasts_hours: 8,
    begin: ahead(3 * DAY_MS),
    end: ahead(0),
  },
  {
    name: 'the clock is two hours behind',
    alert: 'clock_wrong',
    no: ['clock'],
    lasts_hours: 8,
    begin: ahead(-2 * HOUR_MS),
    end: ahead(0),
  },
  {
    name: 'the disk is almost full',
    alert: 'disk_low',
    begin: () => showFreeBytes(200_000_000),
    end: () => showFreeBytes(100_000_000_000),
  },
  ...(['SQLITE_FULL', 'SQLITE_READONLY', 'SQLITE_BUSY'] as const).map(
    (code, index): Fault => ({
      name:
        ['the disk is full', 'the state folder is read-only', 'the database is locked'][index] ??
        '',
      alert: 'database_unusable',
      no: ['daemon'],
      is_unstorable: true,
      lasts_hours: 8,
      begin: () => refuseWrites(code),
      end: () => refuseWrites(null),
    }),
  ),
  {
    name: 'the database is removed while eligd runs, and a new one is right',
    alert: 'database_new',
    no: ['calls'],
    begin: losing,
    end: release,
  },
  {
    name: 'the database is lost while eligd is off, and restored',
    alert: 'database_new',
    no: ['calls'],
    begin: async (clinic) => {
      await clinic.turnOff();
      losing(clinic);
      await clinic.turnOn();
    },
    end: restore,
  },
  {
    name: 'the database is emptied, and restored',
    alert: 'daemon_failed',
    is_down: true,
    begin: async (clinic) => {
      await clinic.turnOff();
      losing(clinic);
      writeFileSync(clinic.path(DATABASE), '', { mode: 0o600 });
      await clinic.turnOn();
    },
    end: restore,
  },
  {
    name: 'the database is cut off, and restored',
    alert: 'daemon_failed',
    is_down: true,
    begin: async (clinic) => {
      await clinic.turnOff();
      truncateSync(clinic.path(DATABASE), 100_000);
      await clinic.turnOn();
    },
    end: restore,
  },
  {
    name: 'the disk damages the database while eligd runs',
    alert: 'database_damaged',
    no: ['backup'],
    lasts_hours: 30,
    watched_hours: 24,
    begin: (clinic) => {
      copyFileSync(clinic.path(DATABASE), clinic.path('sound.db'));
      damageSecondHalf(clinic.path(DATABASE));
    },
    end: restore,
  },
  {
    name: 'the folder of backups is away',
    alert: 'backup_missing',
    no: ['backup'],
    lasts_hours: 80,
    watched_hours: 30,
    begin: (clinic) => {
      renameSync(clinic.path('state/backups'), clinic.path('backups.away'));
      writeFileSync(clinic.path('state/backups'), 'not a folder');
    },
    end: (clinic) => {
      rmSync(clinic.path('state/backups'));
      renameSync(clinic.path('backups.away'), clinic.path('state/backups'));
    },
  },
  {
    name: 'the configuration has an error at a restart',
    alert: 'daemon_failed',
    is_down: true,
    begin: async (clinic) => {
      await clinic.turnOff();
      clinic.configure({ polling: { interval_minutes: -1 } });
      await clinic.turnOn();
    },
    end: async (clinic) => {
      clinic.configure({});
      await clinic.restart();
    },
  },
  {
    name: 'eligd crashes and is started again',
    alert: 'daemon_restarted',
    lasts_hours: 3,
    compared_after_hours: 0.7,
    begin: (clinic) => clinic.crash(),
    end: () => {},
  },
  {
    name: 'the port of the webhook is taken',
    alert: 'port_taken',
    settings: (clinic) => webhookAt(clinic),
    prepare: (clinic) => takePort(clinic.spare_port),
    begin: () => {},
    end: freeHeld,
  },
  {
    name: 'the monitoring port is taken',
    alert: 'port_taken',
    prepare: (clinic) => takePort(clinic.monitoring_port),
    begin: () => {},
    end: freeHeld,
  },
  {
    name: 'the certificate of the office’s page expires soon',
    alert: 'certificate_expiring',
    settings: (clinic) => ({
      office: {
        listen: `127.0.0.1:${clinic.spare_port}`,
        tls: { certificate: './office.pem', key: './office.key' },
      },
    }),
    watched_hours: 30,
    prepare: (clinic) => certificate(clinic, 'expires-2030-04-10'),
    begin: () => {},
    end: (clinic) => certificate(clinic, 'server'),
  },
  {
    name: 'a target of alerts takes none',
    alert: 'alert_unsent',
    settings: (clinic) => ({
      alerts: { targets: [{ id: 'screen', type: 'command', command: [clinic.path('show')] }] },
    }),
    // The fault causes a message, and is over soon.
    occasion: 'daemon_restarted',
    begin: (clinic) => clinic.crash(),
    end: (clinic) => symlinkSync('/bin/true', clinic.path('show')),
  },
  {
    name: 'the computer is off all night',
    alert: null,
    lasts_hours: 26,
    watched_hours: 6,
    begin: async (clinic) => {
      await clinic.live(clinic.clock.trueNow() + 9 * HOUR_MS);
      await clinic.turnOff();
      await clinic.live(clinic.clock.trueNow() + 12 * HOUR_MS);
      await clinic.turnOn();
    },
    end: () => {},
  },
  {
    name: 'the power fails and comes back in the morning',
    alert: null,
    lasts_hours: 26,
    watched_hours: 6,
    begin: async (clinic) => {
      await clinic.live(clinic.clock.trueNow() + 9 * HOUR_MS);
      await clinic.crash(12 * HOUR_MS);
    },
    end: () => {},
  },
];

function certificate(clinic: SimulatedClinic, name: string): void {
  copyFileSync(join(FIXTURES, `${name}.pem`), clinic.path('office.pem'));
  copyFileSync(join(FIXTURES, `${name}-key.pem`), clinic.path('office.key'));
  chmodSync(clinic.path('office.key'), 0o600);
}
