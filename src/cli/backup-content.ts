import type { CopyContent } from '../store/engine/backup.ts';

/** Returns the counts of a database copy, for `--json`. */
export function contentJson({ backed_up_at, ...counts }: CopyContent) {
  return { backed_up_at: new Date(backed_up_at).toISOString(), ...counts };
}

/** Describes the counts of a database copy in words. */
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
