import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createNotifier } from '../../src/ops/systemd.ts';

/** Prints the datagrams that a socket like systemd's receives, one per line. */
const LISTENER =
  'socket(my $in, AF_UNIX, SOCK_DGRAM, 0); bind($in, pack_sockaddr_un($ARGV[0])) or die; $| = 1; ' +
  'print "ready\\n"; while (defined recv($in, my $text, 65536, 0)) ' +
  '{ $text =~ s/\\n/|/g; print "$text\\n" }';

describe('messages to systemd', () => {
  let folder: string;
  let heard: string[];
  let end: () => void;

  const until = async (count: number) => {
    while (heard.length < count) await new Promise((resolve) => setTimeout(resolve, 10));
    return heard;
  };

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'eligd-notify-'));
    heard = [];
    const listener = spawn('perl', ['-MSocket', '-e', LISTENER, join(folder, 'notify')]);
    end = () => listener.kill();
    await once(listener.stdout, 'data');
    listener.stdout.on('data', (chunk: Buffer) =>
      heard.push(...chunk.toString().trim().split('\n')),
    );
  });

  afterEach(() => {
    end();
    rmSync(folder, { recursive: true });
  });

  /** Programs with this name write a line to `started`, then do their own work. */
  const watched = (name: string, body: string) => {
    const file = join(folder, name);
    writeFileSync(file, `#!/bin/sh\necho ${name} >>${join(folder, 'started')}\n${body}\n`);
    chmodSync(file, 0o755);
  };
  const environment = () => ({
    NOTIFY_SOCKET: join(folder, 'notify'),
    WATCHDOG_USEC: '180000000',
    PATH: `${folder}${delimiter}${process.env.PATH ?? ''}`,
  });
  const started = () => readFileSync(join(folder, 'started'), 'utf8').trim().split('\n');

  it('messages to systemd arrive complete and in order, from one process', async () => {
    watched('perl', 'exec /usr/bin/perl "$@"');
    watched('systemd-notify', 'exit 1');
    const notifier = createNotifier(environment());
    expect(notifier.watchdog_ms).toBe(180_000);
    await notifier.tell('READY=1', 'STATUS=Nothing is waiting.');
    for (let beat = 0; beat < 5; beat += 1) await notifier.tell('WATCHDOG=1');
    expect(await until(6)).toEqual([
      'READY=1|STATUS=Nothing is waiting.',
      ...Array(5).fill('WATCHDOG=1'),
    ]);
    expect(started()).toEqual(['perl']);
  });

  it('systemd-notify sends the messages if eligd cannot', async () => {
    watched('perl', 'exit 1');
    watched('systemd-notify', `echo "$@" >>${join(folder, 'started')}`);
    const notifier = createNotifier(environment());
    await notifier.tell('READY=1');
    await notifier.tell('WATCHDOG=1');
    const all = ['perl', 'systemd-notify', 'READY=1', 'systemd-notify', 'WATCHDOG=1'];
    expect(started()).toEqual(all);
  });

  it('eligd does not wait when nothing listens for its messages', async () => {
    end();
    rmSync(join(folder, 'notify'));
    const notifier = createNotifier(environment());
    await notifier.tell('READY=1');
    await notifier.tell('WATCHDOG=1');
    expect(heard).toEqual([]);
    expect(createNotifier({}).is_heard).toBe(false);
  });
});
