// The blocks that a client adds to the text of its user.

/** Clients put blocks into a user's text that change from request to request. */
export function withoutReminders(text: string): string {
  return text.replace(/<system-reminder>[\s\S]*?(<\/system-reminder>|$)/g, '').trim()
}
