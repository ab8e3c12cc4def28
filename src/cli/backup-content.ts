import type { CopyContent } from '../store/engine/backup.ts';

/** What a copy of the database holds, for `--json`. */
export function contentJson({ backed_up_at, ...counts }: CopyContent) {
  return { backed_up_at: new Date(backed_up_at).toISOString(), ...counts };
}

/** What a copy of the database holds, as words. */
export function contentWords({
  appointments,
  inquiries,
  answers,
  deliveries,
}: CopyContent): string {
  return (
    `${appointments} appointments, ${inquiries} inquiries, ${answers} answers and ` +
    `${deliveries} deliveries`
  );
}
