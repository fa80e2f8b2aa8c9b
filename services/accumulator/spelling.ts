// Texts in one spelling, for the echo check: a copy may have other blanks, escapes, entities, tags
// and colours.

const entities: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }
const entity = /&(?:#(\d{1,6})|#x([0-9a-f]{1,5})|(lt|gt|amp|quot|apos));/gi
const colour = /(?:(?!\s)\p{Cc}|\\(?:x1b|e|033|u001b))\[[\d;]{0,32}[A-Za-z]/giu
/** Tags that only change the look of words. */
const looks = /<\/?(?:span|b|i|u|a|em|strong|mark|font|wbr)(?: [^<>]{0,256})?>/gi

/** Without escapes, entities, colours and tags for looks. The words stay apart. Linear. */
export function readable(text: string): string {
  return text
    .replaceAll(colour, '')
    .replaceAll(entity, entityText)
    .replaceAll(entity, entityText)
    .replaceAll(/\\+(?:u([0-9a-f]{4})|(.))/gis, (_, hex?: string, one = '') => {
      if (hex !== undefined) return String.fromCharCode(parseInt(hex, 16))
      return 'nrtbf'.includes(one) ? ' ' : one
    })
    .normalize('NFKC')
    .replaceAll(/\p{Cf}/gu, '')
    .replaceAll(colour, '')
    .replaceAll(looks, '')
}

/** Also without blanks, quotes and commas before a closing bracket. */
export function plain(text: string): string {
  return readable(text)
    .replaceAll(/[\s"'`“”‘’]/gu, '')
    .replaceAll(/,(?=[}\])])/g, '')
}

function entityText(whole: string, decimal?: string, hex?: string, name?: string): string {
  if (name !== undefined) return entities[name.toLowerCase()] ?? whole
  const code = decimal === undefined ? parseInt(hex ?? '', 16) : Number(decimal)
  return code > 0x10_ff_ff ? whole : String.fromCodePoint(code)
}
