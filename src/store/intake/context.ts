import type { Tx } from '../engine/database.ts';

/** One commit of data from a connector. `now`: the timestamp of everything in it. */
export type IntakeContext = { tx: Tx; connector: string; now: number };
