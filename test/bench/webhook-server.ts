/**
 * A child of the bench: eligd's receiver, or a bare route that only checks the signature, parses,
 * and answers.
 */
import Fastify from 'fastify';
import { startHttpServer } from '../../src/http/server.ts';
import { newWebhookCounts, webhookRoute } from '../../src/http/webhook.ts';
import { realClock } from '../../src/ops/env.ts';
import { verifySignature } from '../../src/service/signature.ts';
import { openInbox } from '../../src/store/answers/inbox.ts';
import { openStore } from '../../src/store/engine/store.ts';
import { jobOfChild } from './measure.ts';

export type WebhookServerJob = {
  receiver: 'eligd' | 'bare';
  database: string;
  secret: string;
  path: string;
};

const { receiver, database, secret, path } = jobOfChild<WebhookServerJob>();
process.send?.(receiver === 'eligd' ? await throughEligd() : await bare());
process.on('disconnect', () => process.exit());

async function throughEligd(): Promise<number> {
  const env = { clock: realClock, random: Math.random, log: () => {} };
  const route = webhookRoute({
    path,
    signature_header: 'X-Service-Signature',
    secrets: [secret],
    body_bytes_max: 16_000_000,
    inbox: openInbox(await openStore(database), realClock),
    env,
    onStored: () => {},
    counts: newWebhookCounts(),
  });
  return (await startHttpServer({ host: '127.0.0.1', port: 0 }, [route], env)).address.port;
}

async function bare(): Promise<number> {
  const app = Fastify({ bodyLimit: 16_000_000 });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.post(path, async (request, reply) => {
    const body = request.body as Buffer;
    const signature = request.headers['x-service-signature'];
    if (!verifySignature({ body, signature: String(signature), secrets: [secret] }))
      return reply.code(401).send();
    JSON.parse(body.toString('utf8'));
    return reply.code(200).send();
  });
  const address = await app.listen({ host: '127.0.0.1', port: 0 });
  return Number(new URL(address).port);
}
