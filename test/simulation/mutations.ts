export const MUTATIONS: Record<string, unknown> = {};
export function applyMutation(_name: string): void {}
