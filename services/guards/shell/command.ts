// Judges one command with its words. It runs nothing, and returns how the script can continue.
// Owns: the kind of command and the checks for each kind.
// Does not own: the script around it (script.ts), the outputs of a command (changes.ts), the
// command inside a wrapper (wrappers.ts).

import { builtin } from './builtins.ts'
import { changesOf } from './changes.ts'
import { after, assigned, both, inFolders, inherited, type Outcome } from './environment.ts'
import { beginsUnknown, isFromNet, isPlain, isUnknown } from './field.ts'
import { judgeFind } from './find.ts'
import { isInterpreter, isNetCommand, isShell } from './net.ts'
import { nameOf, resolved } from './paths.ts'
import {
  checkSecrets,
  checkWrite,
  deeper,
  type Place,
  rememberFetched,
  step,
  wasFetched,
} from './place.ts'
import { checkValue } from './read-again.ts'
import { Refusal, shown } from './refusal.ts'
import { judgeInterpreter, judgeShell } from './shells.ts'
import { opaque, wrapped } from './wrappers.ts'

/** They change the machine itself, or code that runs later and elsewhere. */
const neverAllowed = new Set([
  ...[
    'fdisk',
    'sfdisk',
    'cfdisk',
    'parted',
    'wipefs',
    'mkswap',
    'swapon',
    'swapoff',
    'mount',
    'umount',
    'losetup',
    'cryptsetup',
    'debugfs',
    'hdparm',
  ],
  ...[
    'useradd',
    'adduser',
    'usermod',
    'userdel',
    'deluser',
    'groupadd',
    'groupdel',
    'groupmod',
    'passwd',
    'chpasswd',
    'visudo',
    'vipw',
    'vigr',
    'chsh',
  ],
  ...[
    'insmod',
    'rmmod',
    'modprobe',
    'kexec',
    'shutdown',
    'reboot',
    'halt',
    'poweroff',
    'init',
    'telinit',
    'newfs',
    'diskutil',
    'update-alternatives',
  ],
])

/** They only print their words, so a word is no secret's name unless another command reads it. */
const printers = new Set(['echo', 'printf', ':', 'true', 'false'])

/**
 * `fields`: the command's name and its arguments. `functions`: whether its name may be a
 * function's. Throws a Refusal.
 */
export function judgeCommand(
  fields: readonly string[],
  place: Place,
  { functions = true } = {},
): Outcome {
  step(place)
  const [name, ...args] = fields
  if (name === undefined) return both(place.environment)
  if (!isPlain(name)) throw unknownName(name)
  const base = nameOf(name)
  if (name.includes('/') && wasFetched(name, place)) throw runsFetched(name)
  if (!printers.has(base) || place.isRead) checkSecrets(fields, place)

  const body = functions ? place.environment.functions.get(name) : undefined
  if (body !== undefined) {
    const leaps: Place['leaps'] = []
    const outcome = place.walk.node(body, { ...deeper(place), leaps })
    return leaps.length === 0
      ? outcome
      : both(
          leaps.reduce(
            (one, other) => after({ ok: one, failed: other }) ?? one,
            after(outcome) ?? (leaps[0] as Place['environment']),
          ),
        )
  }

  if (name === 'source' || name === '.') checkName('source', place)
  const inner = wrapped(base, args)
  const known = inner === undefined ? builtin(name, args, place, judgeCommand) : undefined
  if (known !== undefined) return known
  checkName(base, place)
  if (inner !== undefined) return judgeWrapped(base, inner, place)
  if (isShell(base)) return judgeShell(base, args, place)
  if (base === 'find' || base === 'gfind') return judgeFind(args, place, judgeCommand)
  if (isInterpreter(base)) judgeInterpreter(base, args, place)
  checkChanges(base, args, place)
  return both(place.environment)
}

function checkName(base: string, { rules }: Place): void {
  if (rules.onlyCommands !== undefined && !rules.onlyCommands.has(base))
    throw new Refusal(
      'not-allowed',
      `${shown(base)} is not among the commands that may run`,
      `Use only: ${[...rules.onlyCommands].map(shown).join(', ').slice(0, 1_000)}.`,
    )
  if (neverAllowed.has(base) || base.startsWith('mkfs'))
    throw new Refusal(
      'not-allowed',
      `${shown(base)} changes the machine itself`,
      'Leave that to a person, and say what you need.',
    )
  if (opaque.has(base))
    throw new Refusal(
      'unknowable',
      `what ${shown(base)} runs cannot be seen from its arguments`,
      `Run the command without ${shown(base)}.`,
    )
}

function judgeWrapped(
  base: string,
  { fields, settings = [], writes = [], folder, asOther }: NonNullable<ReturnType<typeof wrapped>>,
  place: Place,
): Outcome {
  for (const path of writes) checkWrite(path, base, place)
  const { environment } = place
  const inFolder =
    folder === undefined ? environment : inFolders(environment, foldersOf(folder, place))
  const set = settings.reduce(withSetting, inFolder)
  const inner: Place = {
    ...place,
    environment: asOther === 'home and folder' ? inFolders(set, undefined) : set,
    home: asOther === undefined ? place.home : undefined,
  }
  if (asOther !== undefined || folder !== undefined) {
    // The words are expanded already. Only a script inside would expand `~` as the other user.
    judgeCommand(
      fields,
      { ...inner, environment: { ...inner.environment, variables: withoutHome(inner) } },
      { functions: false },
    )
    return both(environment)
  }
  const isHere = base === 'command' || base === 'builtin'
  const outcome = judgeCommand(fields, inner, { functions: false })
  if (base === 'exec' && fields.length > 0) return both(undefined)
  return isHere ? outcome : both(environment)
}

function withSetting(environment: Place['environment'], setting: string): Place['environment'] {
  const at = setting.indexOf('=')
  const [name, value] = [setting.slice(0, at), setting.slice(at + 1)]
  checkValue(name, value)
  return inherited.includes(name) ? assigned(environment, name, value) : environment
}

function withoutHome({ environment }: Place): Place['environment']['variables'] {
  const variables = new Map(environment.variables)
  variables.delete('HOME')
  return variables
}

function foldersOf(folder: string, { environment }: Place): string[] | undefined {
  const folders = (folder.startsWith('/') ? ['/'] : (environment.cwds ?? [])).map((cwd) =>
    resolved(folder, cwd),
  )
  return folders.length === 0 || folders.includes(undefined) ? undefined : (folders as string[])
}

function checkChanges(base: string, args: readonly string[], place: Place): void {
  const changes = changesOf(base, args)
  if (changes === undefined) return
  if (changes.unknowable !== undefined)
    throw new Refusal(
      'unknowable',
      `what ${shown(base)} changes cannot be told: ${changes.unknowable}`,
      'Write it without that option.',
    )
  if (changes.uncertain !== undefined) {
    const what = `"${shown(changes.uncertain)}" is only known when the command runs, and ${shown(base)} could take it for an option`
    throw new Refusal(
      'unknowable',
      what,
      'Write it out. Where it is a file that is only read, -- before the file names helps.',
    )
  }
  const temporary = base === 'mktemp' ? (place.environment.variables.get('TMPDIR') ?? '') : ''
  for (const path of [...(changes.writes ?? []), ...(temporary === '' ? [] : [temporary])])
    checkWrite(path, base, place)
  for (const path of changes.removes ?? []) checkWrite(path, base, place, { beneath: true })
  for (const path of changes.links ?? []) checkLink(path, base, changes.writes ?? [], place)
  const isFetched = place.input.kind === 'net' || isNetCommand(base)
  for (const path of isFetched
    ? [...(changes.fetched ?? []), ...(base === 'tee' ? (changes.writes ?? []) : [])]
    : [])
    rememberFetched(path, place)
  if (changes.copied?.some((path) => wasFetched(path, place)))
    for (const target of changes.writes ?? [])
      for (const path of [target, ...changes.copied.map((source) => `${target}/${nameOf(source)}`)])
        rememberFetched(path, place)
}

/**
 * A link to the outside would make every later write below it a write outside. A relative target
 * starts at the link's place, which may be a folder or a name.
 */
function checkLink(path: string, base: string, targets: readonly string[], place: Place): void {
  const candidates = path.startsWith('/')
    ? [path]
    : [path, ...targets.flatMap((target) => [`${target}/${path}`, `${target}/../${path}`])]
  for (const candidate of candidates)
    checkWrite(candidate, `a write through the link that ${base} makes`, place)
}

function unknownName(name: string): Refusal {
  if (isFromNet(name))
    return new Refusal(
      'net-into-shell',
      'it runs what comes from the net',
      'Save what you fetch to a file and read that first; do not run it.',
    )
  const what = `the name of a command, "${shown(name)}", is only known when it runs`
  return new Refusal(
    'unknowable',
    beginsUnknown(name) || isUnknown(name)
      ? what
      : `the name of a command, "${shown(name)}", depends on which files there are`,
    'Write the name of the command out.',
  )
}

function runsFetched(name: string): Refusal {
  return new Refusal(
    'net-into-shell',
    `it runs "${shown(name)}", which it has just fetched from the net`,
    'Fetch it, read it, and run the commands of it that you need.',
  )
}
