import { afterEach } from 'vitest';
import { indexDefinitions } from './definitions.ts';
import { FhirPeer, type PeerOptions } from './peer.ts';

const started: FhirPeer[] = [];

afterEach(async () => {
  await Promise.all(started.splice(0).map((peer) => peer.close()));
});

/** On a free port of this machine, closed after the test. */
export async function startPeer(options: PeerOptions = {}): Promise<FhirPeer> {
  indexDefinitions();
  const peer = new FhirPeer(options);
  started.push(peer);
  await peer.listen(options.port ?? 0);
  return peer;
}
