import { type Command, InvalidArgumentError } from 'commander';
import { EligdError } from '../../domain/errors.ts';
import {
  generatedPassword,
  hashPassword,
  isUserName,
  passwordFault,
  ROLES,
  type Role,
  signOnMark,
  type User,
  UserFile,
  usersPath,
} from '../../office/users.ts';
import type { CliContext } from '../context.ts';
import { openAsker } from '../init/ask.ts';
import { noteAction } from '../looks.ts';
import { printJson, printTable } from '../output.ts';

type NewUser = { role: Role; generate?: true; signOn?: string };

export function register(command: Command, context: CliContext): void {
  command.description(
    'Manages who may log in to the office page (office: in the configuration). A viewer can ' +
      'read, an operator can also act, and an admin can also see the configuration.',
  );
  command.addHelpText('after', '\nExamples:\n  eligd user add maria\n  eligd user passwd maria\n');
  command
    .command('add')
    .description('Adds a user, and asks for the password.')
    .argument('<name>', 'lowercase letters, digits, dots, and dashes', userName)
    .option('--role <role>', ROLES.join(', '), roleOf, 'operator')
    .option('--generate', 'generate a password and print it')
    .option('--sign-on <account>', 'log in at office.single_sign_on with this account instead')
    .addHelpText(
      'after',
      '\nExamples:\n  eligd user add maria\n  eligd user add front --role viewer\n' +
        '  eligd user add maria --sign-on maria@group.example\n',
    )
    .action(async (name: string, options: NewUser) => {
      const file = await usersOf(context);
      if (file.find(name) !== null) throw alreadyThere(name);
      const hash =
        options.signOn === undefined
          ? await newHash(context, name, options.generate === true)
          : signOnMark(options.signOn);
      file.write([...file.all(), { name, role: options.role, hash }]);
      await note(context, name, 'added', `${name} may log in to the page as ${options.role}.`);
      context.stdout.write(`${name} can now log in as ${options.role}.\n`);
    });
  command
    .command('passwd')
    .description('Sets a new password, and logs the user out everywhere.')
    .argument('<name>', 'the user', userName)
    .option('--generate', 'generate a password and print it')
    .addHelpText('after', '\nExamples:\n  eligd user passwd maria\n')
    .action(async (name: string, options: { generate?: true }) => {
      const file = await usersOf(context);
      const { role } = findUser(file, name);
      const hash = await newHash(context, name, options.generate === true);
      file.write(file.all().map((user) => (user.name === name ? { name, role, hash } : user)));
      await note(context, name, 'password_set', `${name} has a new password for the office page.`);
      context.stdout.write(`${name} has a new password.\n`);
    });
  command
    .command('remove')
    .description('Removes a user and logs the user out at once.')
    .argument('<name>', 'the user', userName)
    .addHelpText('after', '\nExamples:\n  eligd user remove maria\n')
    .action(async (name: string) => {
      const file = await usersOf(context);
      findUser(file, name);
      file.write(file.all().filter((user) => user.name !== name));
      await note(context, name, 'removed', `${name} can no longer log in to the office page.`);
      context.stdout.write(`${name} can no longer log in.\n`);
    });
  command
    .command('list')
    .description('Lists the users and their roles.')
    .option('--json', 'as JSON (docs/json.md, eligd.users/1)')
    .addHelpText('after', '\nExamples:\n  eligd user list\n')
    .action(async (options: { json?: true }) => {
      const users = (await usersOf(context)).all().map(({ name, role }) => ({ name, role }));
      if (options.json) printJson(context.stdout, { schema: 'eligd.users/1', users });
      else if (users.length === 0)
        context.stdout.write('There are no users yet. "eligd user add NAME" adds one.\n');
      else
        printTable(
          context.stdout,
          [{ title: 'name', is_whole: true }, { title: 'role' }],
          users.map(({ name, role }) => [name, role]),
        );
    });
}

async function note(
  context: CliContext,
  name: string,
  to_state: string,
  reason: string,
): Promise<void> {
  await noteAction(context, { subject: `user:${name}`, to_state, reason });
}

async function usersOf(context: CliContext): Promise<UserFile> {
  return new UserFile(usersPath(await context.config()));
}

function findUser(file: UserFile, name: string): User {
  const user = file.find(name);
  if (user !== null) return user;
  throw new EligdError('failed', {
    what: `There is no user ${name}.`,
    why: `The user file ${file.path} does not have this name.`,
    next: '"eligd user list" shows all users.',
  });
}

function alreadyThere(name: string): EligdError {
  return new EligdError('failed', {
    what: `The user ${name} already exists.`,
    why: 'Each name can be used once.',
    next: `Use another name, or "eligd user passwd ${name}" for a new password.`,
  });
}

async function newHash(
  { stdout, stderr }: CliContext,
  name: string,
  is_generated: boolean,
): Promise<string> {
  if (is_generated) {
    const password = generatedPassword();
    stdout.write(`The password of ${name} is ${password}\n`);
    return await hashPassword(password);
  }
  const asker = openAsker(stderr);
  try {
    const password = await asker.askSecret('password');
    const fault = passwordFault(password, name);
    if (fault !== null) throw badPassword(fault);
    if (
      process.stdin.isTTY === true &&
      (await asker.askSecret('the same password again')) !== password
    )
      throw badPassword('The two passwords were not the same.');
    return await hashPassword(password);
  } finally {
    asker.close();
  }
}

function badPassword(why: string): EligdError {
  return new EligdError('usage', {
    what: 'The password was not accepted.',
    why,
    next: 'Use four or more words that do not belong together, or --generate.',
  });
}

function userName(text: string): string {
  const name = text.trim();
  if (isUserName(name)) return name;
  throw new InvalidArgumentError(
    'A name begins with a lowercase letter and has only letters, digits, dots, and dashes.',
  );
}

function roleOf(text: string): Role {
  const role = ROLES.find((each) => each === text);
  if (role === undefined) throw new InvalidArgumentError(`Write one of ${ROLES.join(', ')}.`);
  return role;
}
