// The text of a host's settings with and without Weir's hooks. It edits text, not values: foreign
// entries, their order and their format stay.
// Weir's hooks are those whose URL or command names a path of its hooks. Nothing
// else marks them, and no other entry is removed.
// Removing installed hooks gives the earlier text, byte for byte, unless a part was
// empty or formatted unlike the rest.

import { isDeepStrictEqual } from 'node:util'
import { applyEdits, type FormattingOptions, modify } from 'jsonc-parser'
import { WeirError } from '../../../shared/lib/errors.ts'
import { isObject } from '../../../shared/lib/json/json-object.ts'
import { hookKinds } from '../fronts/hooks/hook-payload.ts'
import type { HookEntry } from './host.ts'

/** `text`: '' for a file that does not exist. Throws `settings.invalid`. */
export function withHooks(text: string, entries: readonly HookEntry[], file: string): string {
  let edited = withoutHooks(text, file)
  if (edited.trim() === '') edited = '{}\n'
  for (const { event, group } of entries) {
    const list = groupsOf(edited, file, event)
    edited =
      list === undefined
        ? edit(edited, ['hooks', event], [group])
        : edit(edited, ['hooks', event, list.length], group, true)
  }
  return edited
}

/** '' if nothing else stands in the file. Throws `settings.invalid`. */
export function withoutHooks(text: string, file: string): string {
  if (text.trim() === '') return text
  let edited = text
  let hasRemoved = false
  for (const event of Object.keys(hooksOf(edited, file) ?? {})) {
    const groups = groupsOf(edited, file, event) ?? []
    for (const [at, group] of [...groups.entries()].reverse()) {
      const hooks = isObject(group) && Array.isArray(group.hooks) ? group.hooks : []
      const foreign = hooks.filter((hook) => !isOurs(hook))
      if (foreign.length === hooks.length) continue
      hasRemoved = true
      if (foreign.length === 0) edited = edit(edited, ['hooks', event, at], undefined)
      else
        for (const [index, hook] of [...hooks.entries()].reverse())
          if (isOurs(hook)) edited = edit(edited, ['hooks', event, at, 'hooks', index], undefined)
    }
    if (hasRemoved && groupsOf(edited, file, event)?.length === 0)
      edited = edit(edited, ['hooks', event], undefined)
  }
  if (!hasRemoved) return text
  if (Object.keys(hooksOf(edited, file) ?? {}).length === 0)
    edited = edit(edited, ['hooks'], undefined)
  return Object.keys(settingsIn(edited, file)).length === 0 ? '' : edited
}

/** The events with a hook of Weir, and the URL of one of them. Throws `settings.invalid`. */
export function installedIn(text: string, file: string): { events: string[]; url: string | null } {
  const found = Object.keys(hooksOf(text, file) ?? {}).flatMap((event) =>
    (groupsOf(text, file, event) ?? []).flatMap((group) =>
      (isObject(group) && Array.isArray(group.hooks) ? group.hooks : []).flatMap((hook) => {
        const url = urlOf(hook)
        return url === undefined ? [] : [{ event, url }]
      }),
    ),
  )
  return { events: [...new Set(found.map(({ event }) => event))], url: found[0]?.url ?? null }
}

/** Whether Weir's hooks in the text are these entries. Throws `settings.invalid`. */
export function hasHooks(text: string, entries: readonly HookEntry[], file: string): boolean {
  const groups = (settings: string) =>
    Object.keys(hooksOf(settings, file) ?? {}).flatMap((event) =>
      (groupsOf(settings, file, event) ?? []).map((group) => JSON.stringify([event, group])),
    )
  return isDeepStrictEqual(groups(text).sort(), groups(withHooks(text, entries, file)).sort())
}

/** The settings as a value. Throws `settings.invalid`. */
export function settingsIn(text: string, file: string): Record<string, unknown> {
  if (text.trim() === '') return {}
  const value = parsed(text, file)
  if (!isObject(value)) throw unusable(file, 'is no JSON object')
  return value
}

const ownUrl = new RegExp(
  `https?://[^\\s'"/]+(?:/[^\\s'"]*)?/v1/hooks/[\\w.-]+/(?:${hookKinds.join('|')})(?![\\w/-])`,
)

function isOurs(hook: unknown): boolean {
  return urlOf(hook) !== undefined
}

/** The URL of a hook of Weir. */
function urlOf(hook: unknown): string | undefined {
  if (!isObject(hook)) return undefined
  const text = hook.type === 'http' ? hook.url : hook.command
  return typeof text === 'string' ? ownUrl.exec(text)?.[0] : undefined
}

function hooksOf(text: string, file: string): Record<string, unknown> | undefined {
  const { hooks } = settingsIn(text, file)
  if (hooks !== undefined && !isObject(hooks)) throw unusable(file, 'has hooks that are no object')
  return hooks
}

function groupsOf(text: string, file: string, event: string): unknown[] | undefined {
  const groups = hooksOf(text, file)?.[event]
  if (groups !== undefined && !Array.isArray(groups))
    throw unusable(file, `has hooks.${event} that is no list`)
  return groups
}

/** Strict JSON: a host that finds a comment ignores the whole file. */
function parsed(text: string, file: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw unusable(file, `is no JSON, so the host ignores it: ${reason}`)
  }
}

function unusable(file: string, fault: string): WeirError {
  return new WeirError('settings.invalid', `${file} ${fault}; correct it, then run this again`)
}

function edit(
  text: string,
  path: (string | number)[],
  value: unknown,
  isArrayInsertion = false,
): string {
  const formattingOptions = formatOf(text)
  return applyEdits(text, modify(text, path, value, { formattingOptions, isArrayInsertion }))
}

/** The indentation and line ends that the file has. */
function formatOf(text: string): FormattingOptions {
  const indent = /^[ \t]+(?=\S)/m.exec(text)?.[0] ?? '  '
  return {
    insertSpaces: !indent.startsWith('\t'),
    tabSize: indent.startsWith('\t') ? 4 : indent.length,
    eol: text.includes('\r\n') ? '\r\n' : '\n',
  }
}
