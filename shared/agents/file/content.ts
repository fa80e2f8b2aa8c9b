// The content of an agent file after agent.schema.json has checked it. Values that the schema
// refused are undefined under their keys. The rest can still be checked, so all mistakes are
// reported at once.

import type { EmptyAllowance, LoopThresholds, TextCallsMode } from '../../contract/messages.ts'

export type AgentContent = {
  name?: string
  guest?: true
  hints?: Record<string, HintsContent | undefined>
  system?: string
  systemFile?: string
  model?: ModelContent
  fallback?: string
  caps?: { rounds?: number; calls?: number; wallMs?: number; tokens?: number }
  loop?: Partial<LoopThresholds> & { rules?: Record<string, RuleMode | undefined> }
  empty?: Partial<EmptyAllowance>
  attempts?: number
  stallMs?: number
  firstByteMs?: number
  startWithinMs?: number
  graceMs?: number
  toolTries?: number
  textCalls?: TextCallsMode
  sandbox?: SandboxContent
  tools?: (ToolContent | undefined)[]
}

export type SandboxContent =
  | 'default'
  | 'off'
  | {
      read?: (string | undefined)[]
      write?: (string | undefined)[]
      network?: 'none' | 'all' | (string | undefined)[]
      memory?: number | string
      processes?: number
      cpuSeconds?: number
    }

export type HintsContent = Pick<ToolContent, 'mutates' | 'ignoreFields' | 'loopKey' | 'refusal'>

export type RuleMode = 'enforce' | 'shadow'

export type ModelContent = {
  provider?: string
  name?: string
  baseUrl?: string
  apiKey?: string
  maxOutputTokens?: number
  temperature?: number
  toolCalls?: 'native' | 'text'
}

export type ToolContent = {
  name?: string
  description?: string
  schema?: Record<string, unknown>
  schemaFile?: string
  idempotent?: boolean
  timeoutMs?: number
  poll?: boolean
  mutates?: boolean
  ignoreFields?: (string | undefined)[]
  loopKey?: (string | undefined)[]
  refusal?: string
  concurrency?: number
  command?: (string | undefined)[]
  cwd?: string
  environment?: (string | undefined)[]
  outputBytesMax?: number
  http?: HttpContent
  module?: string
  sandbox?: SandboxContent
}

export type HttpContent = {
  url?: string
  headers?: Record<string, string | undefined>
  outputBytesMax?: number
}
