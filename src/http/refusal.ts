import type { FastifyReply } from 'fastify';

/**
 * An empty answer after which the connection ends, so that whatever else was piped into it is not
 * even read.
 */
export function refuse(reply: FastifyReply, status: number): FastifyReply {
  return reply.code(status).header('connection', 'close').send();
}
