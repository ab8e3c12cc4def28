/** Problems of a whole file that have a sentence of their own. */
const FILE_PROBLEMS: Readonly<Record<string, (field: string) => string>> = {
  'no header row found': () => 'No header row was found',
  'no such column': (field) => `There is no column for ${field}`,
  'more than one column': (field) => `Two columns look like ${field}`,
};

/**
 * Returns a sentence about a problem of a source, such as `Row 17, DOB: impossible date.` A problem
 * of a whole row or file names only the position: `Row 8: too few cells.`
 */
export function problemSentence(problem: {
  position: string;
  field: string;
  value_class: string;
}): string {
  const { position, field, value_class } = problem;
  const of_file = FILE_PROBLEMS[value_class]?.(field);
  const is_named = of_file !== undefined || position.split(' ').includes(field);
  const place = is_named ? position : `${position}, ${field}`;
  return `${place.charAt(0).toUpperCase()}${place.slice(1)}: ${of_file ?? value_class}.`;
}
