// With --online only: whether the servers of an agent can be reached. A model's server gets a free
// request for the model's description. A tool's server gets OPTIONS without credentials, so nothing
// happens there.

import { providerNamed } from '../../../services/llm-gateway/performer/providers/providers.ts'
import type { Agent, Agents } from '../../../shared/agents/agents.ts'
import { type Check, ok, warning, wrong } from './check.ts'

const answerMsMax = 10_000
const skewMsMax = 5 * 60_000

export async function onlineChecks(agents: Agents): Promise<Check[]> {
  const checks: Check[] = []
  for (const agent of agents.values()) {
    checks.push(await providerCheck(agent))
    for (const { declaration, run } of agent.tools)
      if (run.kind === 'http')
        checks.push(await serverCheck(`${agent.name}/${declaration.name}`, run.url))
  }
  return checks
}

async function providerCheck({ name, model }: Agent): Promise<Check> {
  const { url, headers } = modelRequest(model)
  const host = URL.parse(url)?.host ?? 'its server'
  const answer = await ask(url, 'GET', headers)
  if ('fault' in answer) return unreached('provider', `${name}: ${host}`, answer.fault)
  const { status, skewMs } = answer
  if (skewMs !== undefined && Math.abs(skewMs) > skewMsMax)
    return wrong(
      'provider',
      `${name}: by the clock of ${host} this machine is ${Math.round(skewMs / 1000)} s off`,
      'set the clock of this machine',
    )
  if (status === 401 || status === 403)
    return wrong(
      'provider',
      `${name}: ${host} refuses the key (${status})`,
      'put a valid key into its variable',
    )
  if (status === 404)
    return warning(
      'provider',
      `${name}: ${host} answers, but does not know a model ${model.name}`,
      'check model.name and model.baseUrl in the agent file',
    )
  if (status >= 400)
    return warning(
      'provider',
      `${name}: ${host} answers with ${status}`,
      'try again later, or ask its operator',
    )
  return ok('provider', `${name}: ${host} answers, and knows ${model.name}`)
}

function modelRequest({ provider, baseUrl, apiKey, name }: Agent['model']): {
  url: string
  headers: Record<string, string>
} {
  return providerNamed(provider).check({
    baseUrl: baseUrl?.replace(/\/+$/, ''),
    apiKey,
    path: encodeURIComponent(name),
  })
}

async function serverCheck(tool: string, url: string): Promise<Check> {
  const host = URL.parse(url)?.host ?? 'its server'
  const answer = await ask(url, 'OPTIONS', {})
  return 'fault' in answer
    ? unreached('tool', `${tool}: ${host}`, answer.fault)
    : ok('tool', `${tool}: ${host} answers`)
}

function unreached(name: string, server: string, fault: string): Check {
  return wrong(
    name,
    `${server} cannot be reached (${fault})`,
    'check the address, the network, and a proxy in between',
  )
}

type Answer = { status: number; skewMs: number | undefined } | { fault: string }

async function ask(url: string, method: string, headers: Record<string, string>): Promise<Answer> {
  try {
    const response = await fetch(url, {
      method,
      headers,
      redirect: 'manual',
      signal: AbortSignal.timeout(answerMsMax),
    })
    await response.body?.cancel()
    const date = Date.parse(response.headers.get('date') ?? '')
    return { status: response.status, skewMs: Number.isNaN(date) ? undefined : Date.now() - date }
  } catch (error) {
    return { fault: faultOf(error) }
  }
}

/** A code, never a message: a message could quote credentials in the address. */
function faultOf(error: unknown): string {
  const { name, cause } = error as Error
  const { code } = (cause ?? {}) as NodeJS.ErrnoException
  return name === 'TimeoutError' ? `no answer within ${answerMsMax / 1000} s` : (code ?? name)
}
