// The folders in templates/, by name. `weir init` writes the first one by default.

export const templateNames = ['agent-file', 'typescript'] as const

export type TemplateName = (typeof templateNames)[number]
