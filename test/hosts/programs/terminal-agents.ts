// Agents for a terminal. Each run has a dummy key, and its tools run without questions.

import { claudeCode as claudeCodeHooks } from '../../../apps/http/hosts/claude-code.ts'
import { codex as codexHooks } from '../../../apps/http/hosts/codex.ts'
import { copilot as copilotHooks } from '../../../apps/http/hosts/copilot.ts'
import { geminiCli as geminiCliHooks } from '../../../apps/http/hosts/gemini-cli.ts'
import type { HostEnded } from '../host-run.ts'
import {
  claudeCodePlugin,
  clinePlugin,
  codexPlugin,
  copilotPlugin,
  geminiCliPlugin,
  hermesPlugin,
  openclawPlugin,
  opencodePlugin,
  piPlugin,
} from './plugins.ts'
import { lastLine, type Program, plain } from './program.ts'

export const claudeCode: Program = {
  title: 'Claude Code',
  package: {
    npm: '@anthropic-ai/claude-code',
    version: '2.1.332',
    bin: 'claude',
    setup: 'install.cjs',
  },
  way: '`ANTHROPIC_BASE_URL`',
  shell: { name: 'Bash', argument: 'command' },
  environment: ({ url }) => ({
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'dummy',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    CLAUDE_CODE_MAX_RETRIES: '3', // ten take minutes
    IS_SANDBOX: '1', // it refuses to skip questions for root otherwise
  }),
  args: (text, _, more) => [
    ...['-p', text, '--output-format', 'json', '--max-turns', '100'],
    ...['--dangerously-skip-permissions', ...more],
  ],
  reply: replyOfClaudeCode,
  sessionOf: ({ out }) => /"session_id":"([^"]+)"/.exec(out)?.[1] ?? '',
  hooks: claudeCodeHooks,
  plugin: claudeCodePlugin,
}

export const codex: Program = {
  title: 'Codex',
  package: { npm: '@openai/codex', version: '0.171.0', bin: 'codex' },
  way: 'a provider in `config.toml`, Responses',
  shell: { name: 'exec_command', argument: 'cmd' },
  environment: () => ({ SCRIPTED_KEY: 'dummy' }),
  files: ({ url }) => ({
    '.codex/config.toml': `model = "scripted"
model_provider = "scripted"
[model_providers.scripted]
name = "scripted"
base_url = "${url}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
`,
  }),
  args: (text, _, more) => [
    ...['exec', ...more, '--json', '--skip-git-repo-check', text],
    '--dangerously-bypass-approvals-and-sandbox',
    '--dangerously-bypass-hook-trust',
  ],
  reply: replyOfCodex,
  sessionOf: ({ out }) => /"thread_id":"([^"]+)"/.exec(out)?.[1] ?? '',
  hooks: codexHooks,
  plugin: codexPlugin,
}

export const opencode: Program = {
  title: 'opencode',
  package: {
    npm: 'opencode-ai',
    version: '1.18.33',
    bin: 'opencode',
    setup: 'postinstall.mjs',
  },
  way: 'a provider in `opencode.json`, Chat Completions',
  shell: { name: 'bash', argument: 'command', more: { description: 'a command' } },
  environment: () => ({
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
  }),
  files: ({ url }) => ({
    '.config/opencode/opencode.json': JSON.stringify({
      model: 'scripted/scripted',
      small_model: 'scripted/scripted',
      permission: { edit: 'allow', bash: 'allow', webfetch: 'allow' },
      provider: {
        scripted: {
          npm: '@ai-sdk/openai-compatible',
          name: 'scripted',
          options: { baseURL: `${url}/v1`, apiKey: 'dummy' },
          models: { scripted: { name: 'scripted', tool_call: true } },
        },
      },
    }),
  }),
  args: (text) => ['run', text],
  plugin: opencodePlugin,
  reply: lastLine,
}

export const qwenCode: Program = {
  title: 'Qwen Code',
  endsPolls: true,
  lostOutput: '(empty)',
  repairsArguments: true,
  package: { npm: '@qwen-code/qwen-code', version: '0.24.4', bin: 'qwen' },
  way: '`OPENAI_BASE_URL`, Chat Completions',
  shell: { name: 'run_shell_command', argument: 'command', more: { is_background: false } },
  environment: ({ url }) => ({
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_API_KEY: 'dummy',
    OPENAI_MODEL: 'scripted',
  }),
  args: (text) => ['--auth-type', 'openai', '--yolo', '-p', text],
  reply: lastLine,
}

const pi: Program = {
  title: 'pi',
  package: { npm: '@mariozechner/pi-coding-agent', version: '0.73.1', bin: 'pi' },
  way: 'a provider in `models.json`, Chat Completions',
  shell: { name: 'bash', argument: 'command' },
  environment: () => ({ PI_OFFLINE: '1' }),
  files: ({ url }) => ({
    '.pi/agent/models.json': JSON.stringify({
      providers: {
        scripted: {
          baseUrl: `${url}/v1`,
          api: 'openai-completions',
          apiKey: 'dummy',
          models: [{ id: 'scripted' }],
        },
      },
    }),
  }),
  args: (text) => ['-p', '--provider', 'scripted', '--model', 'scripted', text],
  plugin: piPlugin,
  reply: lastLine,
}

const continueCli: Program = {
  title: 'Continue CLI',
  package: { npm: '@continuedev/cli', version: '1.5.47', bin: 'cn' },
  way: '`apiBase` in `config.yaml`, Chat Completions',
  shell: { name: 'Bash', argument: 'command' },
  environment: () => ({ CONTINUE_TELEMETRY_ENABLED: '0' }),
  files: ({ url }) => ({
    'config.yaml': `name: scripted
version: 0.0.1
schema: v1
models:
  - name: scripted
    provider: openai
    model: scripted
    apiBase: ${url}/v1
    apiKey: dummy
    roles: [chat]
    capabilities: [tool_use]
`,
  }),
  args: (text, { home }) => ['-p', text, '--config', `${home}/config.yaml`, '--auto'],
  reply: lastLine,
}

export const copilot: Program = {
  title: 'Copilot CLI',
  package: { npm: '@github/copilot', version: '1.0.102', bin: 'copilot' },
  way: '`COPILOT_PROVIDER_BASE_URL`, Chat Completions',
  shell: { name: 'bash', argument: 'command', more: { description: 'a command' } },
  environment: ({ url }) => ({
    COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
    COPILOT_PROVIDER_TYPE: 'openai',
    COPILOT_PROVIDER_API_KEY: 'dummy',
    COPILOT_MODEL: 'scripted',
    COPILOT_OFFLINE: 'true',
  }),
  args: (text) => ['-p', text, '--allow-all-tools', '--no-color', '--silent'],
  reply: lastLine,
  hooks: copilotHooks,
  plugin: copilotPlugin,
}

export const geminiCli: Program = {
  title: 'Gemini CLI',
  package: { npm: '@google/gemini-cli', version: '0.61.0', bin: 'gemini' },
  way: '`GOOGLE_GEMINI_BASE_URL`, Gemini',
  shell: { name: 'run_shell_command', argument: 'command' },
  environment: ({ url }) => ({
    GOOGLE_GEMINI_BASE_URL: url,
    GEMINI_API_KEY: 'dummy',
    GEMINI_CLI_TRUST_WORKSPACE: 'true',
  }),
  // Without the first setting it takes the address for a gateway, and asks for a login. Without the
  // second it ends a run after five equal calls itself.
  files: () => ({
    'work/.gemini/settings.json': JSON.stringify({
      security: { auth: { selectedType: 'gemini-api-key' } },
      model: { disableLoopDetection: true },
    }),
  }),
  args: (text) => ['-p', text, '--yolo', '-m', 'gemini-2.5-pro'],
  reply: lastLine,
  hooks: geminiCliHooks,
  plugin: geminiCliPlugin,
}

const cline: Program = {
  title: 'Cline',
  package: { npm: 'cline', version: '3.0.65', bin: 'cline' },
  way: '`cline auth -b`, Chat Completions',
  plugin: clinePlugin,
  shell: { name: 'run_commands', argument: 'commands', isList: true },
  endsPolls: true,
  goesOn: true,
  finish: (summary) => ({
    name: 'submit_and_exit',
    input: JSON.stringify({ summary, verified: true }),
  }),
  // A plug-in that loads later is none.
  environment: () => ({ CLINE_PLUGIN_IMPORT_TIMEOUT_MS: '300000' }),
  setup: ({ url }) => ['auth', '-p', 'openai', '-k', 'dummy', '-m', 'scripted', '-b', `${url}/v1`],
  args: (text) => ['--yolo', text],
  reply: lastLine,
}

const mistralVibe: Program = {
  title: 'Mistral Vibe',
  package: {
    pypi: { 'mistral-vibe': '2.26.1' },
    host: 'mistral-vibe',
    since: 12,
    bin: 'vibe',
  },
  way: 'a provider in `config.toml`, Chat Completions',
  shell: { name: 'bash', argument: 'command' },
  environment: () => ({ SCRIPTED_KEY: 'dummy' }),
  files: ({ url }) => ({
    '.vibe/config.toml': `active_model = "scripted"
enable_update_checks = false
enable_telemetry = false
[[providers]]
name = "scripted"
api_base = "${url}/v1"
api_key_env_var = "SCRIPTED_KEY"
api_style = "openai"
backend = "generic"
[[models]]
name = "scripted"
provider = "scripted"
alias = "scripted"
`,
  }),
  args: (text) => ['-p', text, '--auto-approve', '--output', 'text'],
  reply: lastLine,
}

const gptme: Program = {
  title: 'gptme',
  package: { pypi: { gptme: '0.35.1' }, host: 'gptme', bin: 'gptme' },
  way: '`OPENAI_BASE_URL`, Chat Completions',
  shell: { name: 'shell', argument: 'command' },
  goesOn: true,
  finish: () => ({ name: 'complete', input: '{}' }),
  environment: ({ url }) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: 'dummy' }),
  args: (text) => ['--non-interactive', '--tool-format', 'tool', '-m', 'local/scripted', text],
  reply: ({ out }) => [...plain(out).matchAll(/Assistant: \n([^\n@]+)/g)].at(-1)?.[1] ?? '',
}

const hermes: Program = {
  title: 'Hermes',
  package: { pypi: { 'hermes-agent': '0.19.0' }, host: 'hermes-agent', since: 11, bin: 'hermes' },
  way: '`model.base_url` in `config.yaml`, Chat Completions',
  shell: { name: 'terminal', argument: 'command' },
  files: ({ url }) => ({
    '.hermes/config.yaml': `model:
  default: scripted
  provider: custom
  base_url: ${url}/v1
  api_key: dummy
`,
  }),
  args: (text) => ['--yolo', '-z', text],
  plugin: hermesPlugin,
  reply: lastLine,
}

const openclaw: Program = {
  title: 'OpenClaw',
  package: { npm: 'openclaw', version: '2026.9.6', bin: 'openclaw' },
  way: 'a provider in `openclaw.json`, Chat Completions',
  shell: { name: 'exec', argument: 'command' },
  files: ({ url }) => ({
    '.openclaw/openclaw.json': JSON.stringify({
      agents: { defaults: { model: { primary: 'scripted/scripted' } } },
      models: {
        providers: {
          scripted: {
            baseUrl: `${url}/v1`,
            apiKey: 'dummy',
            api: 'openai-completions',
            models: [{ id: 'scripted', name: 'scripted' }],
          },
        },
      },
    }),
  }),
  args: (text) => ['agent', '--local', '--agent', 'main', '--message', text],
  plugin: openclawPlugin,
  reply: lastLine,
}

export const terminalAgents: readonly Program[] = [
  claudeCode,
  codex,
  opencode,
  qwenCode,
  pi,
  continueCli,
  copilot,
  geminiCli,
  cline,
  mistralVibe,
  gptme,
  hermes,
  openclaw,
]

function replyOfClaudeCode({ out }: HostEnded): string {
  const result = out.split('\n').find((line) => line.includes('"type":"result"'))
  return result === undefined ? '' : `${JSON.parse(result).result ?? ''}`
}

function replyOfCodex({ out }: HostEnded): string {
  const texts = out.split('\n').flatMap((line) => {
    const event = line.startsWith('{') ? JSON.parse(line) : {}
    return event.item?.type === 'agent_message' ? [`${event.item.text}`] : []
  })
  return texts.at(-1) ?? ''
}
