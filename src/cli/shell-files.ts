/** Generates shell completions and the man page from commander's data about the commands. */
import type { Command, Option } from 'commander';

type Described = { path: string[]; command: Command };

/** Returns the program, every command, and every subcommand. */
function allOf(command: Command, path: string[] = []): Described[] {
  const below = command.commands.flatMap((each) => allOf(each, [...path, each.name()]));
  return [{ path, command }, ...below];
}

function optionsOf(command: Command): readonly Option[] {
  const own = command.createHelp().visibleOptions(command);
  const program = command.parent === null ? [] : rootOf(command).options;
  return [...own, ...program.filter(({ long }) => long === '--config')];
}

function rootOf(command: Command): Command {
  return command.parent === null ? command : rootOf(command.parent);
}

const flagsOf = (command: Command) =>
  optionsOf(command).flatMap(({ long, short }) => [long, short].filter((flag) => flag != null));
const wordsOf = (command: Command) => [
  ...command.commands.map((each) => each.name()),
  ...command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
];
/** Quotes one word for bash and zsh, with plain apostrophes that every locale has. */
const quoted = (text: string) => `'${plainLine(text).replaceAll("'", "'\\''")}'`;
/** Quotes one word for fish, which reads a backslash within single quotes. */
const quotedForFish = (text: string) => `'${plainLine(text).replaceAll(/['\\]/g, '\\$&')}'`;
const plainLine = (text: string) => text.replaceAll(/[\u2018\u2019]/g, "'").replaceAll('\n', ' ');

export const COMPLETIONS: Readonly<Record<'bash' | 'zsh' | 'fish', (program: Command) => string>> =
  { bash, zsh, fish };

function bash(program: Command): string {
  const cases = allOf(program).map(({ path, command }) => {
    const words = [...wordsOf(command), ...flagsOf(command)].join(' ');
    return `    ${quoted(path.join(' '))}) words=${quoted(words)} ;;`;
  });
  const steps = allOf(program).flatMap(({ path }) =>
    path.length === 0
      ? []
      : [`      ${quoted(pathPattern(path))}) path=${quoted(path.join(' '))} ;;`],
  );
  const choices = allOf(program).flatMap(({ path, command }) =>
    optionsOf(command).flatMap(({ long, argChoices }) => {
      if (argChoices === undefined || long == null) return [];
      const words = quoted(argChoices.join(' '));
      return `    ${quoted([...path, long].join(' '))}) words=${words}; complete=yes ;;`;
    }),
  );
  return `# bash completion of eligd, made by "eligd completion bash".
_eligd() {
  local current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]}
  local path= word words= complete=
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in
    -*) ;;
    *) case "$path $word" in
${steps.join('\n')}
      esac ;;
    esac
  done
  case "$before" in
  --config|--folder|--key) COMPREPLY=($(compgen -f -- "$current")); return ;;
  esac
  case "\${path:+$path }$before" in
${choices.join('\n')}
  esac
  [ -n "$complete" ] || case "$path" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [ \${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "$current"))
}
complete -F _eligd eligd
`;
}

/** Returns the pattern of \`$path $word\` at this point of the command line. */
function pathPattern(path: readonly string[]): string {
  return `${path.slice(0, -1).join(' ')} ${path.at(-1)}`;
}

function zsh(program: Command): string {
  const described = (command: Command) =>
    command.commands.map((each) => quoted(`${each.name()}:${each.summary()}`)).join(' ');
  const cases = allOf(program).map(({ path, command }) => {
    const flags = optionsOf(command).flatMap(({ long, description }) =>
      long == null ? [] : [quoted(`${long}:${description}`)],
    );
    const words = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []);
    return [
      `  ${quoted(path.join(' '))})`,
      `    commands=(${[described(command), ...words.map(quoted)].join(' ')})`,
      `    flags=(${flags.join(' ')}) ;;`,
    ].join('\n');
  });
  const steps = allOf(program).flatMap(({ path }) =>
    path.length === 0 ? [] : [`    ${quoted(pathPattern(path))}) at=${quoted(path.join(' '))} ;;`],
  );
  const values = allOf(program).flatMap(({ path, command }) =>
    optionsOf(command).flatMap(({ long, argChoices }) => {
      if (argChoices === undefined || long == null) return [];
      const words = argChoices.map(quoted).join(' ');
      return [
        `  ${quoted([...path, long].join(' '))}) commands=(${words})`,
        '    _describe value commands; return ;;',
      ];
    }),
  );
  return `#compdef eligd
# zsh completion of eligd, made by "eligd completion zsh".
_eligd() {
  local -a commands flags
  local at= word
  for word in \${words[2,CURRENT-1]}; do
    case "$at $word" in
${steps.join('\n')}
    esac
  done
  case "$at" in
${cases.join('\n')}
  esac
  case "\${at:+$at }\${words[CURRENT-1]}" in
${values.join('\n')}
  esac
  if [[ \${words[CURRENT]} == -* ]]; then
    _describe option flags
  else
    _describe command commands || _files
  fi
}
_eligd "$@"
`;
}

function fish(program: Command): string {
  const lines = allOf(program).flatMap(({ path, command }) => {
    const seen = path.map((word) => `__fish_seen_subcommand_from ${word}`);
    const here = command.commands.map((each) => each.name()).join(' ');
    const at = path.length === 0 ? '__fish_use_subcommand' : seen.join('; and ');
    const open =
      path.length === 0 || here === '' ? at : `${at}; and not __fish_seen_subcommand_from ${here}`;
    const words = command.commands.map(
      (each) =>
        `complete -c eligd -f -n ${quotedForFish(open)} -a ${each.name()} ` +
        `-d ${quotedForFish(each.summary())}`,
    );
    const choices = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []);
    const flags = optionsOf(command).map(({ long, short, description, argChoices, required }) =>
      [
        `complete -c eligd -n ${quotedForFish(at)}`,
        ...(long == null ? [] : [`-l ${long.slice(2)}`]),
        ...(short == null ? [] : [`-s ${short.slice(1)}`]),
        ...(argChoices === undefined ? [] : [`-xa ${quotedForFish(argChoices.join(' '))}`]),
        ...(argChoices === undefined && required ? ['-r'] : []),
        `-d ${quotedForFish(description)}`,
      ].join(' '),
    );
    return [
      ...words,
      ...choices.map((word) => `complete -c eligd -f -n ${quotedForFish(at)} -a ${word}`),
      ...(path.length === 0 ? [] : flags),
    ];
  });
  return `# fish completion of eligd, made by "eligd completion fish".\n${lines.join('\n')}\n`;
}

/** Generates the man page (section 1) with the macros of man(7). */
export function manPage(program: Command): string {
  const parts = allOf(program)
    .slice(1)
    .map(({ path, command }) =>
      [
        `.SS ${roff(`eligd ${path.join(' ')} ${command.usage()}`)}`,
        roff(command.description()),
        ...optionsOf(command)
          .filter(({ long }) => long !== '--help')
          .flatMap(({ flags, description }) => ['.TP', `.B ${roff(flags)}`, roff(description)]),
      ].join('\n'),
    );
  return `.TH ELIGD 1 "" "eligd ${roff(program.version() ?? '')}" "eligd"
.SH NAME
eligd \\- has payers phoned about patients' coverage before the visit
.SH SYNOPSIS
.B eligd
.RB [ \\-\\-config
.IR file ]
.I command
.RI [ options ]
.SH DESCRIPTION
${roff(program.description())}
.SH COMMANDS
${parts.join('\n')}
.SH EXIT STATUS
.TP
.B 0
done
.TP
.B 1
failed
.TP
.B 2
the command line is wrong
.TP
.B 75
temporary: the service or the practice management system is away
.TP
.B 78
the configuration is wrong
.SH FILES
.TP
.I /etc/eligd/eligd.yaml
the configuration
.TP
.I /usr/share/doc/eligd/README.md
the service of this machine
`;
}

/** Escapes text for roff: a line that begins with a dot or a quote would be a request. */
function roff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll(/\s*\n\s*/g, ' ')
    .replaceAll(/^([.'])/gm, '\\&$1');
}
