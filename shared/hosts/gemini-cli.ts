import type { HostProfile } from './host-profile.ts'

export const geminiCli: HostProfile = {
  name: 'gemini-cli',
  title: 'Gemini CLI',
  requests: { headers: [], userAgent: /^GeminiCLI/ },
  identity: { session: [], agent: [], turn: [], hasSideRequests: false },
  pollers: ['read_background_output', 'list_background_processes'],
}
