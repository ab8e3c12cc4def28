import type { Command } from 'commander';
export function register(command: Command): void {
  command.description('x');
}
