import type { FastifyReply } from 'fastify';

/**
 * Sends an empty answer and closes the connection, so that requests pipelined behind it are not
 * read.
 */
export function refuse(reply: FastifyReply, status: number): FastifyReply {
  return reply.code(status).header('connection', 'close').send();
}
