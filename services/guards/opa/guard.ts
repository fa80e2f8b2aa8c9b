// The opa guard: judges each call by a Rego policy that is compiled to WebAssembly.
// Owns: the input of the policy, and the verdict of its decision, in the vocabulary of
// @ai-sdk/policy-opa.
// Does not own: the rules, and their compilation (opa build -t wasm).
//
// A policy that fails, has no result or gives an unknown decision denies the call (R6).
// A policy that reads the messages of the conversation is refused at the start: a guard
// does not get them, and a rule on them would never apply.

import type {
  Guard,
  GuardedCall,
  GuardedRound,
  JsonObject,
  Verdict,
} from '../../../shared/contract/guard/guard.ts'
import { limits } from '../../../shared/contract/limits.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { isObject } from '../../../shared/lib/json/json-object.ts'
import { keyFault } from '../../../shared/runtime/guards/key-fault.ts'
import { type Bundle, readBundle, readData } from './performer/bundle.ts'
import { loadPolicy, type Policy } from './performer/policy.ts'

export type OpaGuardOptions = {
  /** Default `opa`. */
  name?: string
  /** Patterns of the tools whose calls the policy judges. */
  tools: string[]
  /** A policy.wasm, or the bundle.tar.gz of `opa build -t wasm`. */
  policyFile: string
  /** The data document, as JSON, for a policy.wasm or a bundle without data. */
  dataFile?: string
  /** The path of the decision, as in `agent/call/decision`. Default: the only entrypoint. */
  entrypoint?: string
  /** Facts for `input.runtimeContext`. Weir adds `agent` and `conversation`. */
  runtimeContext?: JsonObject
  /** `empty`: `input.messages` is an empty list, also for a policy that reads it. */
  messages?: 'empty'
  /** Default 1000. */
  deadlineMs?: number
}

/** Throws a WeirError (settings.invalid) for unusable options, and for a missing engine. */
export default function opaGuard(options: OpaGuardOptions): Guard<undefined> {
  checkOptions(options)
  const { name = 'opa', tools, runtimeContext = {}, deadlineMs = 1_000 } = options
  const policy = policyOf(options)
  const entrypoint = entrypointOf(options, policy)
  return {
    name,
    version: '1',
    tools,
    deadlineMs,
    onTimeout: 'deny',
    judge: (_state, round) => ({
      state: undefined,
      verdicts: round.calls.map((call) => {
        try {
          const input = inputOf(call, round, runtimeContext)
          return verdictOf(policy.evaluate(input, entrypoint), call)
        } catch (error) {
          const text = 'the policy could not be evaluated, so the call may not run.'
          return denial(call, 'error', text, messageOf(error))
        }
      }),
    }),
  }
}

function inputOf(
  { name, arguments: args }: GuardedCall,
  { agent, conversation }: GuardedRound,
  runtimeContext: JsonObject,
): JsonObject {
  return {
    tool: { name },
    args,
    messages: [],
    runtimeContext: { ...runtimeContext, agent, conversation },
  }
}

/** As @ai-sdk/policy-opa reads a result. Null is no opinion. */
function verdictOf(result: unknown, call: GuardedCall): Verdict {
  const { ordinal } = call
  if (result === null || result === undefined) return { ordinal, verdict: 'allow' }
  const { decision, allow, reason } = isObject(result) ? result : {}
  const why = typeof reason === 'string' && reason.trim() !== '' ? reason : undefined
  const named = typeof decision === 'string' ? decision : undefined
  switch (knownDecisions.find((one) => one === named) ?? allow) {
    case 'allow':
    case 'not-applicable':
    case true:
      return { ordinal, verdict: 'allow' }
    case 'deny':
    case false:
      return denial(call, 'denied', `the policy denies this call${why ? `: ${why}` : '.'}`, why)
    case 'requires-approval': {
      const text = `the policy requires approval of this call${why ? `: ${why}` : '.'}`
      return { ...denial(call, 'approval', text, why), verdict: 'ask' }
    }
    default: {
      const text = 'the policy gave a decision that Weir does not know, so the call may not run.'
      return denial(call, 'unrecognized', text, JSON.stringify(result))
    }
  }
}

const knownDecisions = ['allow', 'deny', 'requires-approval', 'not-applicable'] as const

function denial({ ordinal }: GuardedCall, code: string, text: string, evidence?: string) {
  const known = evidence === undefined ? {} : { evidence }
  return { ordinal, verdict: 'deny' as const, code: `opa.${code}`, text, ...known }
}

// ── Options ──

const optionNames = Object.keys({
  name: 1,
  tools: 1,
  policyFile: 1,
  dataFile: 1,
  entrypoint: 1,
  runtimeContext: 1,
  messages: 1,
  deadlineMs: 1,
} satisfies Record<keyof OpaGuardOptions, 1>)

function checkOptions(options: OpaGuardOptions): void {
  const unknown = keyFault(options, optionNames)
  if (unknown !== undefined)
    throw new WeirError('settings.invalid', `the opa guard's options have ${unknown}`)
  const { tools, policyFile, dataFile, entrypoint, runtimeContext, messages } = options
  if (!Array.isArray(tools) || tools.length === 0)
    throw invalid('tools', tools, "give it the patterns of the tools, e.g. ['*']")
  const texts = { policyFile, ...(dataFile !== undefined && { dataFile }) }
  for (const [key, value] of Object.entries(texts))
    if (typeof value !== 'string' || value === '') throw invalid(key, value, 'give it a path')
  if (entrypoint !== undefined && typeof entrypoint !== 'string')
    throw invalid('entrypoint', entrypoint, "give it a path, e.g. 'agent/call/decision'")
  if (runtimeContext !== undefined && !isObject(runtimeContext))
    throw invalid('runtimeContext', runtimeContext, 'give it an object')
  const own = ['agent', 'conversation'].find((key) => runtimeContext && key in runtimeContext)
  if (own !== undefined)
    throw invalid('runtimeContext', runtimeContext, `leave ${own} out, because Weir sets it`)
  if (messages !== undefined && messages !== 'empty')
    throw invalid('messages', messages, "give it 'empty', or leave it out")
}

function bundleOf({ policyFile, dataFile, messages }: OpaGuardOptions): Bundle {
  const bundle = fileOf('policyFile', policyFile, readBundle)
  if (messages !== 'empty' && Buffer.from(bundle.wasm).includes('messages'))
    throw invalid(
      'policyFile',
      policyFile,
      "the policy names messages, and a guard gets no messages of the conversation: remove them from the rules, or set messages to 'empty'",
    )
  if (dataFile === undefined) return bundle
  if (Object.keys(bundle.data ?? {}).length > 0)
    throw invalid('dataFile', dataFile, 'leave it out, because the bundle has data')
  return { ...bundle, data: fileOf('dataFile', dataFile, readData) }
}

function policyOf(options: OpaGuardOptions): Policy {
  const bundle = bundleOf(options)
  try {
    return loadPolicy(bundle)
  } catch (error) {
    if (error instanceof WeirError) throw error
    throw invalid('policyFile', options.policyFile, `it cannot be loaded: ${messageOf(error)}`)
  }
}

function fileOf<T>(option: string, file: string, read: (file: string) => T): T {
  try {
    return read(file)
  } catch (error) {
    throw invalid(option, file, `it cannot be read: ${messageOf(error)}`)
  }
}

function entrypointOf({ entrypoint }: OpaGuardOptions, { entrypoints }: Policy): string {
  const [only, ...others] = entrypoints
  const found = entrypoint ?? (others.length === 0 ? only : undefined)
  if (found !== undefined && entrypoints.includes(found)) return found
  throw invalid('entrypoint', entrypoint, `the policy has ${entrypoints.join(', ') || 'none'}`)
}

/** The engine throws strings and objects too. */
function messageOf(error: unknown): string {
  const { message = error } = isObject(error) || error instanceof Error ? error : {}
  return String(message).slice(0, limits.guardEvidenceBytesMax)
}

function invalid(option: string, value: unknown, remedy: string): WeirError {
  const shown = JSON.stringify(value)?.slice(0, 200) ?? 'missing'
  return new WeirError('settings.invalid', `the opa guard's ${option} is ${shown}: ${remedy}`)
}
