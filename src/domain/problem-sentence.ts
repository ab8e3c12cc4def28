/**
 * Names a problem of a source, such as `Row 17, DOB: impossible date.` A problem of a whole row or
 * file names only the position: `Row 8: too few cells.`
 */
export function problemSentence(problem: {
  position: string;
  field: string;
  value_class: string;
}): string {
  const { position, field, value_class } = problem;
  const place = position.split(' ').includes(field) ? position : `${position}, ${field}`;
  return `${place.charAt(0).toUpperCase()}${place.slice(1)}: ${value_class}.`;
}
