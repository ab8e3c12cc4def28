import { parseArgs } from 'node:util';
import { soak } from './hl7-kill.ts';

const { values } = parseArgs({
  options: {
    messages: { type: 'string', default: '100000' },
    connections: { type: 'string', default: '8' },
    kills: { type: 'string', default: '5' },
  },
});
const order = {
  messages: Number(values.messages),
  connections: Number(values.connections),
  kills: Number(values.kills),
};
const result = await soak(order);
console.log(
  JSON.stringify({
    ...order,
    ...result,
    lost: result.lost.length,
    duration_ms: Math.round(result.duration_ms),
  }),
);
const is_good =
  result.kills === order.kills &&
  result.acknowledged === order.messages &&
  result.stored_appointments === order.messages &&
  result.lost.length === 0 &&
  result.twice === 0;
process.exitCode = is_good ? 0 : 1;
