// The JSON that a host sends to a hook. The hosts share most names of fields.
// Does not own: the decision (hook-front.ts), the answer's form (hook-answer.ts).

import { randomUUID } from 'node:crypto'
import { limits } from '../../../../shared/contract/limits.ts'
import { isObject } from '../../../../shared/lib/json/json-object.ts'
import { inBackground } from '../../../../shared/model-texts/guests.ts'
import { HttpError } from '../../http-error.ts'

/** The last part of a hook's path. A host's settings name one for each of its events. */
export const hookKinds = ['prompt', 'pre', 'post', 'batch', 'stop', 'end'] as const
export type HookKind = (typeof hookKinds)[number]

export type HookCall = { id: string; name: string; input: unknown }
export type HookResult = { callId: string; status: 'ok' | 'error'; text: string }

export type HookEvent =
  | { kind: 'prompt'; text: string }
  | { kind: 'pre'; call: HookCall }
  /** `of`: the call, from a host that gives calls no ids. */
  | { kind: 'post'; result: HookResult; of?: Pick<HookCall, 'name' | 'input'> | undefined }
  | { kind: 'batch'; calls: { call: HookCall; result: HookResult }[] }
  | { kind: 'stop' }
  /** Of the session. `isShown`: its user has seen the reasons of ended turns on the screen. */
  | { kind: 'end'; isShown: boolean }

/** The form of the answer that a host reads. `claude-code`: of Codex too. */
export type AnswerForm = 'claude-code' | 'gemini-cli' | 'copilot'

/** `turn`: the host's id of the turn, if it sends one. */
export type HookPayload = {
  session: string
  /** The name of the host's profile. Undefined: not known. */
  host?: string | undefined
  /** A subagent of the session. */
  agentId: string | undefined
  turn: string | undefined
  /** The host's name of the event, which its answer must repeat. */
  eventName: string
  form: AnswerForm
  event: HookEvent
}

type Body = Record<string, unknown>

/** Throws 400 with the field that is missing. */
export function hookPayloadOf(kind: HookKind, body: Body): HookPayload {
  const eventName = idIn(body, 'hook_event_name')
  return {
    session: idIn(body, 'session_id'),
    agentId: optionalIdIn(body, 'agent_id'),
    turn: optionalIdIn(body, 'prompt_id') ?? optionalIdIn(body, 'turn_id'),
    eventName,
    form: formOf(kind, eventName, body),
    event: eventOf(kind, body),
  }
}

/** Copilot CLI sends the events of Claude Code, and names no call. */
function formOf(kind: HookKind, eventName: string, body: Body): AnswerForm {
  if (/^(Before|After)[A-Z]/.test(eventName)) return 'gemini-cli'
  return (kind === 'pre' || kind === 'post') && isUnnamed(body) ? 'copilot' : 'claude-code'
}

function isUnnamed({ tool_use_id: id }: Body): boolean {
  return id === undefined
}

function eventOf(kind: HookKind, body: Body): HookEvent {
  switch (kind) {
    case 'prompt':
      return { kind, text: typeof body.prompt === 'string' ? body.prompt : '' }
    case 'pre':
      return { kind, call: callOf(isUnnamed(body) ? named(body) : body) }
    case 'post':
      return isUnnamed(body)
        ? { kind, result: resultOf(named(body)), of: callOf(named(body)) }
        : { kind, result: resultOf(body) }
    case 'batch':
      return { kind, calls: listIn(body, 'tool_calls').map(finishedCallOf) }
    case 'stop':
      return { kind }
    case 'end':
      return { kind, isShown: body.reason !== withoutScreen }
  }
}

/** Claude Code gives this reason for the end of `claude -p`. */
const withoutScreen = 'other'

/** With an id for a call of a host that gives calls no ids. */
function named(body: Body): Body {
  return { ...body, tool_use_id: `call-${randomUUID()}` }
}

function callOf(body: Body): HookCall {
  return {
    id: idIn(body, 'tool_use_id'),
    name: idIn(body, 'tool_name'),
    input: body.tool_input ?? {},
  }
}

/** PostToolUseFailure has an `error` and no response. Gemini CLI has an object in its response. */
function resultOf(body: Body): HookResult {
  const callId = idIn(body, 'tool_use_id')
  const response = body.tool_response ?? body.tool_result
  const error = isObject(response) && isObject(response.error) ? response.error.message : body.error
  return typeof error === 'string'
    ? { callId, status: 'error', text: error }
    : { callId, status: 'ok', text: responseText(response) }
}

/** Claude Code gives a batch no status, and marks the results of calls that it has refused itself. */
function finishedCallOf(value: unknown): { call: HookCall; result: HookResult } {
  if (!isObject(value)) throw missing('tool_calls', 'must be a list of objects')
  const result = resultOf(value)
  const isRefused = result.text.startsWith('<tool_use_error>')
  return { call: callOf(value), result: isRefused ? { ...result, status: 'error' } : result }
}

/** The text that the model reads, as far as the host shows it. */
function responseText(response: unknown): string {
  if (typeof response === 'string') return response
  if (Array.isArray(response) && response.every(isTextBlock))
    return response.map(({ text }) => text).join('\n')
  if (isObject(response) && response.llmContent !== undefined)
    return responseText(response.llmContent)
  if (isObject(response) && typeof response.text_result_for_llm === 'string')
    return response.text_result_for_llm
  if (isObject(response) && typeof response.stdout === 'string')
    return [response.stdout, response.stderr, background(response)].filter(Boolean).join('\n')
  return JSON.stringify(response ?? '')
}

/** The model reads the id of a command that goes on in the background. */
function background({ backgroundTaskId: id }: Body): string {
  return typeof id === 'string' ? inBackground(id) : ''
}

function isTextBlock(value: unknown): value is { text: string } {
  return isObject(value) && typeof value.text === 'string'
}

/** Of any id. Longer ones are no id of a host. */
const idCharactersMax = 256

function idIn(body: Body, name: string): string {
  const value = body[name]
  if (typeof value !== 'string' || value === '' || value.length > idCharactersMax)
    throw missing(name, `must be a text of 1 to ${idCharactersMax} characters`)
  return value
}

function optionalIdIn(body: Body, name: string): string | undefined {
  return body[name] === undefined || body[name] === null ? undefined : idIn(body, name)
}

function listIn(body: Body, name: string): unknown[] {
  const value = body[name]
  if (!Array.isArray(value) || value.length > limits.responseCallsMax)
    throw missing(name, `must be a list of at most ${limits.responseCallsMax} calls`)
  return value
}

function missing(name: string, rule: string): HttpError {
  return new HttpError(400, 'hooks.payload', `${name} ${rule}`)
}
