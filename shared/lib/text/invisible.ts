// The one table of characters that a person does not see, as classes for regular expressions with the
// flag `u`. Names, terminals, masks of values and texts for a model choose from these classes.
// Each class stands in brackets: `new RegExp(`[${formats}]`, 'u')`.

/** Without a shape, from Unicode's own list: formats, joiners, selectors, fillers, tags. */
export const formats = '\\p{Cf}\\p{Default_Ignorable_Code_Point}'

/** Controls, halves of a surrogate pair and foreign line ends. A terminal may obey them. */
export const controls = '\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}'

/** Copies of ASCII without a shape. */
export const tags = '\\u{e0000}-\\u{e007f}'

/** They choose a variant of the character before. Their 256 values can hide any byte. */
export const selectors = '\\ufe00-\\ufe0f\\u{e0100}-\\u{e01ef}'

/** Directions of text: they end with `directionEnds`. */
export const directionBegins = '\\u202a\\u202b\\u2066-\\u2068'
export const directionEnds = '\\u202c\\u2069'
export const directionMarks = '\\u061c\\u200e\\u200f'
/** They show a text in another order, or are out of use. */
export const directionOverrides = '\\u202d\\u202e\\u206a-\\u206f\\ufff9-\\ufffb'

/** Without width, and letters of Hangul and Khmer without a shape. */
export const zeroWidth =
  '\\u00ad\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u180e\\u200b-\\u200d\\u2060-\\u2064\\u3164\\ufeff\\uffa0'
