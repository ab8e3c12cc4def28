/**
 * The position of a value: `PID-3` is the first component of the field, `PID-3.4.2` a subcomponent,
 * `PID-3[2].1` a component of the second repetition, and `PID-3[MR].1` one of the repetitions that
 * have a component with exactly this word.
 */
export type Path = {
  segment: string;
  field: number;
  /** Null: all of them. */
  repetition: number | string | null;
  component: number;
  subcomponent: number;
};

const FORM =
  /^([A-Z][A-Z0-9]{2})-([1-9]\d{0,2})(?:\[([^\][]+)\])?(?:\.([1-9]\d?))?(?:\.([1-9]\d?))?$/;

/** Parses a path; null if the text is not one. */
export function parsePath(text: string): Path | null {
  const found = FORM.exec(text);
  if (found === null) return null;
  const [, segment = '', field, chosen, component = '1', subcomponent = '1'] = found;
  const repetition =
    chosen === undefined ? null : /^[1-9]\d*$/.test(chosen) ? Number(chosen) : chosen;
  return {
    segment,
    field: Number(field),
    repetition,
    component: Number(component),
    subcomponent: Number(subcomponent),
  };
}
