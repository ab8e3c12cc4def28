/** The properties of a booted machine, in this order: each begins where the previous one ended. */
import type { Property } from './common.ts';
import { diskErrors, fullDisk, restore } from './properties-of-disk.ts';
import {
  alertOfFailure,
  badConfiguration,
  hangingProcess,
  hangingStage,
  sigkill,
  stop,
  tamperedCredential,
} from './properties-of-life.ts';
import { delivers, journal, memoryLimit, monitoring, statusLine } from './properties-of-log.ts';
import {
  encrypted,
  exposure,
  goingBack,
  init,
  install,
  purge,
  remove,
  rootsCommands,
  signature,
  supplyChain,
  unit,
  upgrade,
} from './properties-of-package.ts';

/** `same` is the file of a second build of the package under test. */
export function properties(same: Promise<string>): readonly Property[] {
  return [
    { name: 'install', see: install },
    { name: 'init', see: init },
    { name: 'encryption', see: encrypted },
    { name: 'unit', see: unit },
    { name: 'exposure', see: exposure },
    { name: 'delivers under the hardening', see: delivers },
    { name: 'status line', see: statusLine },
    { name: 'health and metrics', see: monitoring },
    { name: "root's commands", see: rootsCommands },
    { name: 'memory limit', see: memoryLimit },
    { name: 'stop', see: stop },
    { name: 'SIGKILL', see: sigkill },
    { name: 'a process that hangs', see: hangingProcess },
    { name: 'a stage that hangs', see: hangingStage },
    { name: 'bad configuration', see: badConfiguration },
    { name: 'alert of a daemon that cannot start', see: alertOfFailure },
    { name: 'tampered credential', see: tamperedCredential },
    { name: 'full state disk', see: fullDisk },
    { name: 'errors of the disk', see: diskErrors },
    { name: 'restore of an old backup', see: restore },
    { name: 'supply chain', see: (_, machine) => supplyChain(machine, same) },
    { name: 'signature', see: () => signature(same) },
    { name: 'remove', see: remove },
    { name: 'purge', see: purge },
    { name: 'upgrade from an older build with data', see: upgrade },
    { name: 'back to an older version', see: goingBack },
    { name: 'the whole journal', see: journal },
  ];
}
