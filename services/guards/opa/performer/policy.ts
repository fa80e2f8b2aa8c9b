// A compiled Rego policy, evaluated in this process.
// Each evaluation starts from the same memory. After an error the module is
// instantiated anew, because a policy that stopped anywhere may have left it in any state.

import { createRequire } from 'node:module'
import type { LoadedPolicy } from '@open-policy-agent/opa-wasm'
import type { JsonValue } from '../../../../shared/contract/guard/guard.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import { WeirError } from '../../../../shared/lib/errors.ts'
import { isObject } from '../../../../shared/lib/json/json-object.ts'
import type { Bundle } from './bundle.ts'

export type Policy = {
  entrypoints: string[]
  /** The result of the entrypoint. Throws an Error if the evaluation fails or gives none. */
  evaluate(input: JsonValue, entrypoint: string): unknown
}

type Engine = Pick<typeof import('@open-policy-agent/opa-wasm'), 'loadPolicySync'>

const pageBytes = 64 * 1024

/** The types of Node.js do not have it. */
const { WebAssembly } = globalThis as unknown as {
  WebAssembly: { Module: new (bytes: Uint8Array) => object }
}

/** `load`: loads the optional peer. Throws `settings.invalid` if it is not installed. */
export function loadPolicy(
  { wasm, data }: Bundle,
  load: (name: string) => unknown = createRequire(import.meta.url), // its ESM lacks loadPolicySync
): Policy {
  const engine = engineBy(load)
  const module = new WebAssembly.Module(new Uint8Array(wasm))
  const initial = Math.ceil(wasm.length / pageBytes) + 32 // its data, and room to begin with
  const instantiate = (): LoadedPolicy => {
    const memory = { initial, maximum: Math.max(initial, limits.opaMemoryPagesMax) }
    const policy = engine.loadPolicySync(module, memory)
    if (data !== undefined) policy.setData(data)
    return policy
  }
  const first = instantiate()
  let policy: LoadedPolicy | undefined = first

  return {
    entrypoints: isObject(first.entrypoints) ? Object.keys(first.entrypoints).sort() : [],
    evaluate(input, entrypoint) {
      const evaluated = policy ?? instantiate()
      policy = undefined // until the evaluation ends: it may be stopped at any point
      const results: unknown = evaluated.evaluate(input, entrypoint)
      policy = evaluated
      const [found] = Array.isArray(results) ? results : []
      if (found === undefined)
        throw new Error(`the policy has no result for ${entrypoint}, and no default`)
      return (found as { result?: unknown }).result
    },
  }
}

function engineBy(load: (name: string) => unknown): Engine {
  try {
    return load('@open-policy-agent/opa-wasm') as Engine
  } catch (error) {
    throw missingEngine(error)
  }
}

function missingEngine(cause: unknown): WeirError {
  return new WeirError(
    'settings.invalid',
    'the opa guard needs the package @open-policy-agent/opa-wasm: npm install @open-policy-agent/opa-wasm',
    { cause },
  )
}
