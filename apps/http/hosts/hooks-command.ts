// `weir hooks`: adds Weir's hooks to the settings of a host, shows them, and removes them.
// Nothing is written before the change was shown, and accepted.

import { existsSync } from 'node:fs'
import { chmod, mkdir, readFile, realpath, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { guestName } from '../../../client/guard/guest-agent.ts'
import { unreachable } from '../../../shared/contract/stage.ts'
import { hostTitle } from '../../../shared/hosts/hosts.ts'
import { usageError } from '../../../shared/lib/errors.ts'
import { ownSecretFile } from '../../../shared/lib/files/folder-owner.ts'
import { writeWhole } from '../../../shared/lib/files/whole-file.ts'
import { objectIn } from '../../../shared/lib/json/json-object.ts'
import { isConfirmed } from '../../terminal/confirmed.ts'
import { printable, printableLines } from '../../terminal/text/printable.ts'
import { markOf } from '../fronts/front-mark.ts'
import { type HookKind, hookKinds } from '../fronts/hooks/hook-payload.ts'
import { changedLines } from './changed-lines.ts'
import { hasHooks, installedIn, settingsIn, withHooks, withoutHooks } from './hook-settings.ts'
import type { Host, HostPlaces } from './host.ts'
import { isOfOtherVersion, placeOfPlugin, pluginOf } from './host-plugins.ts'
import { hostNamed, hosts } from './hosts.ts'
import { reviewOf, versionOf } from './installed-host.ts'

export type HooksOptions = {
  project?: boolean
  /** Where Weir listens. */
  url: string
  /** The name of the guest. Default: the host's. */
  agent?: string
  /** The host's program, if it is not on the path. */
  program?: string
  yes?: boolean
}

export type HooksContext = HostPlaces & {
  input: NodeJS.ReadStream
  out: NodeJS.WriteStream
  errors: NodeJS.WriteStream
}

/** The exit code: 0 if the hooks are installed now, 1 if the change was not accepted. */
export async function installHooks(
  name: string,
  options: HooksOptions,
  context: HooksContext,
): Promise<0 | 1> {
  refusePlugin(name, context)
  const { host, file, text } = await settingsOf(name, options, context)
  const program = options.program ?? host.program
  const version = await versionOf(program)
  const base = baseUrl(options.url)
  const agent = options.agent ?? host.name
  // The server refuses every other name, and then no call of the host would run.
  if (!guestName.test(agent))
    throw usageError(
      `--agent is ${JSON.stringify(agent.slice(0, 80))}; must be 1 to 64 of a-z, 0-9 and -`,
    )
  const urlOf = (kind: HookKind) => `${base}/v1/hooks/${agent}/${kind}`
  const edited = withHooks(text, host.entries(urlOf, version), file)
  const isWritten = await change({ file, text, edited }, options, context)
  if (!isWritten) return 1
  await showState(host, { file, text: edited, version, program }, context)
  return 0
}

/** The exit code: 0 if no hook of Weir is left, 1 if the change was not accepted. */
export async function removeHooks(
  name: string,
  options: HooksOptions,
  context: HooksContext,
): Promise<0 | 1> {
  const { file, text } = await settingsOf(name, options, context)
  const edited = withoutHooks(text, file)
  return (await change({ file, text, edited }, options, context)) ? 0 : 1
}

/** Throws `usage`: two ways to Weir would judge each call twice. */
function refusePlugin(name: string, places: HostPlaces): void {
  const plugin = pluginOf(name)
  if (plugin === undefined) return
  const place = placeOfPlugin(plugin, places)
  if (place !== undefined)
    throw usageError(
      `${printable(place)} has Weir's plug-in for ${hostTitle(name)}, which judges each call already. Keep it, or remove it first: ${plugin.uninstall}`,
    )
  if (!hosts.some((host) => host.name === name))
    throw usageError(
      `${hostTitle(name)} has no hooks for Weir, but Weir has a plug-in: ${plugin.install}`,
    )
}

/** The exit code: 0 if the plug-in or the hooks of this version are installed, otherwise 1. */
export async function showHooks(
  name: string,
  options: HooksOptions,
  context: HooksContext,
): Promise<0 | 1> {
  const plugin = pluginOf(name)
  const place = plugin && placeOfPlugin(plugin, context)
  if (plugin !== undefined && place !== undefined) {
    context.out.write(
      `${printable(place)} has Weir's plug-in for ${hostTitle(name)}. Remove it: ${plugin.uninstall}\n`,
    )
    if (!isOfOtherVersion(plugin, place)) return 0
    context.out.write(
      `This plug-in is not that of this version. Install it again: ${plugin.uninstall} && ${plugin.install}\n`,
    )
    return 1
  }
  if (plugin !== undefined && !hosts.some((host) => host.name === name)) {
    context.out.write(`${hostTitle(name)} has no plug-in of Weir. Install it: ${plugin.install}\n`)
    return 1
  }
  const { host, file, text } = await settingsOf(name, options, context)
  const program = options.program ?? host.program
  const version = await versionOf(program)
  return showState(host, { file, text, version, program }, context)
}

async function settingsOf(
  name: string,
  { project }: HooksOptions,
  places: HostPlaces,
): Promise<{ host: Host; file: string; text: string }> {
  const host = hostNamed(name)
  const file = host.settingsFile(project === true ? 'project' : 'user', places)
  const text = existsSync(file) ? await readFile(file, 'utf8') : ''
  settingsIn(text, file)
  return { host, file, text }
}

/** Whether the file is as `edited` now. */
async function change(
  { file, text, edited }: { file: string; text: string; edited: string },
  options: HooksOptions,
  { out, input, errors }: HooksContext,
): Promise<boolean> {
  const line = (one: string) => out.write(`${one}\n`)
  if (edited === text) {
    line(`${printable(file)} needs no change.`)
    return true
  }
  line(`${printable(file)}:`)
  for (const one of changedLines(text, edited)) line(printableLines(one)[0] ?? '')
  if (options.yes !== true) {
    if (!input.isTTY) {
      line('Nothing was changed. Add --yes to write it.')
      return false
    }
    if (!(await isConfirmed('Write this change?', { input, errors }))) {
      line('Nothing was changed.')
      return false
    }
  }
  await write(file, edited)
  line(edited === '' ? 'The file held nothing more, and was removed.' : 'Written.')
  return true
}

/** A link stays a link, and the file keeps its rights. */
async function write(file: string, text: string): Promise<void> {
  if (text === '') return rm(await realpath(file))
  if (!existsSync(file)) {
    await mkdir(dirname(file), { recursive: true })
    await writeWhole(file, [text], { force: false })
    return
  }
  const target = await realpath(file)
  const { mode } = await stat(target)
  await writeWhole(target, [text], { force: true })
  await chmod(target, mode)
}

type State = { file: string; text: string; version: string | null; program: string }

async function showState(
  host: Host,
  { file, text, version, program }: State,
  { out, folder }: HooksContext,
): Promise<0 | 1> {
  const line = (one: string) => out.write(`${printable(one)}\n`)
  const { events, url } = installedIn(text, file)
  line(
    version === null
      ? `${hostTitle(host.name)}: '${program}' does not run here, so its version is unknown`
      : `${hostTitle(host.name)} ${version}`,
  )
  if (url === null) {
    line(`${file} has no hook of Weir. Install them: weir hooks install ${host.name}`)
    return 1
  }
  line(`${file} has hooks of Weir for ${events.join(', ')}`)
  const kinds = url.slice(0, url.lastIndexOf('/'))
  const isCurrent = hasHooks(
    text,
    host.entries((kind) => `${kinds}/${kind}`, version),
    file,
  )
  if (!isCurrent)
    line(
      `These hooks are not those of this version, and may accept the answer of any server. Install them again: weir hooks install ${host.name}`,
    )
  line(await serverText(host, url))
  if (host.name === 'codex') line(await reviewText(program, file, folder))
  line('Not protected with this version:')
  for (const fact of [...host.unprotected(version), ...turnedOff(text, file)]) line(`- ${fact}`)
  return isCurrent ? 0 : 1
}

/** A setting of the same file that turns hooks off. */
function turnedOff(text: string, file: string): string[] {
  return settingsIn(text, file).disableAllHooks === true
    ? ['disableAllHooks is true in this file: no hook runs.']
    : []
}

async function reviewText(program: string, file: string, folder: string): Promise<string> {
  const reviews = await reviewOf(program, { file, folder })
  if (reviews === undefined || reviews.length === 0)
    return 'Codex does not tell whether you have reviewed the hooks: check with /hooks in codex'
  return reviews.every(({ isTrusted }) => isTrusted)
    ? 'Codex runs these hooks: you have reviewed them'
    : 'Codex skips hooks that you have not reviewed: start codex, and trust them with /hooks'
}

/** Asks at the URL of a hook, because the proxy sends no request there to the provider. */
async function serverText({ name }: Host, url: string): Promise<string> {
  const { origin } = new URL(url)
  const remedy = `start weir proxy. Until then ${hostTitle(name)} runs no call.`
  const server = await serverAt(url)
  switch (server) {
    case 'weir':
      return `Weir answers at ${origin}`
    case 'foreign':
      return `Weir answers at ${origin} without the proof of this user, so ${hostTitle(name)} runs no call. It runs as another user (WEIR_PROOF=off in the environment of ${hostTitle(name)} accepts its answers), or other users can read ${ownSecretFile()}: chmod 600`
    case 'other':
      return `Another server answers at ${origin}, without the hooks of Weir: ${remedy}`
    case 'none':
      return `Nothing answers at ${origin}: ${remedy}`
    default:
      return unreachable(server)
  }
}

/** A Weir on a busy machine answers within this time. */
const markMs = 5_000

/** `url`: of a hook. `foreign`: a Weir whose answers the hooks do not accept. */
export async function serverAt(url: string): Promise<'weir' | 'foreign' | 'other' | 'none'> {
  const answer = await markOf(url, AbortSignal.timeout(markMs)).catch(() => undefined)
  if (answer === undefined) return 'none'
  const listed = objectIn(answer.text)?.hooks
  const isFront = Array.isArray(listed) && hookKinds.every((kind) => listed.includes(kind))
  if (!isFront || answer.mark === 'none') return 'other'
  return answer.mark === 'proved' ? 'weir' : 'foreign'
}

/** Without a slash at its end. Throws `usage`. */
export function baseUrl(text: string): string {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '')
    throw usageError(
      `--url is ${JSON.stringify(text.slice(0, 200))}; must be the address of weir proxy, such as http://127.0.0.1:4141`,
    )
  if (url.username !== '' || url.password !== '' || /['\s]/.test(text))
    throw usageError('--url must have no user, password, blank or quote')
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`
}
