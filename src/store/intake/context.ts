import type { Tx } from '../engine/database.ts';

/** One commit of what a connector hands over. `now`: the time that everything in it gets. */
export type IntakeContext = { tx: Tx; connector: string; now: number };
