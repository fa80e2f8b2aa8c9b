import type { HostProfile } from './host-profile.ts'

export const codex: HostProfile = {
  name: 'codex',
  title: 'Codex',
  requests: { headers: ['x-codex-turn-metadata'], userAgent: /^codex/ },
  pollers: ['write_stdin', 'wait'],
}
