/**
 * Returns a signal that the first Ctrl-C, SIGTERM, or SIGHUP aborts, for commands that run until
 * they are stopped. With `onReload`, SIGHUP calls that instead. The second signal ends the process
 * at once, which the database survives (docs/design.md "No step depends on memory").
 */
export function stopSignal(onReload?: () => void): { signal: AbortSignal; release: () => void } {
  const controller = new AbortController();
  const onSignal = (name: NodeJS.Signals) => {
    if (controller.signal.aborted) process.exit(1);
    controller.abort(new DOMException(`stopped by ${name}`, 'AbortError'));
  };
  const names: NodeJS.Signals[] = ['SIGINT', 'SIGTERM'];
  if (onReload === undefined) names.push('SIGHUP');
  else process.on('SIGHUP', onReload);
  for (const name of names) process.on(name, onSignal);
  return {
    signal: controller.signal,
    release: () => {
      for (const name of names) process.off(name, onSignal);
      if (onReload !== undefined) process.off('SIGHUP', onReload);
    },
  };
}

/** Resolves when the signal is aborted. */
export async function untilStopped(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) =>
    signal.addEventListener('abort', () => resolve(), { once: true }),
  );
}
