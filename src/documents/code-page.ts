/**
 * The upper halves of code pages of MS-DOS, which `TextDecoder` does not know. Programs of the
 * Windows command line still write them.
 */
const upperHalves: Record<string, string> = {
  cp437:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐' +
    '└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0',
  cp850:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐' +
    '└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0',
  cp852:
    'ÇüéâäůćçłëŐőîŹÄĆÉĹĺôöĽľŚśÖÜŤťŁ×čáíóúĄąŽžĘę¬źČş«»░▒▓│┤ÁÂĚŞ╣║╗╝Żż┐' +
    '└┴┬├─┼Ăă╚╔╩╦╠═╬¤đĐĎËďŇÍÎě┘┌█▄ŢŮ▀ÓßÔŃńňŠšŔÚŕŰýÝţ´\u00ad˝˛ˇ˘§÷¸°¨˙űŘř■\u00a0',
}

/** Labels that programs write, and the names that decoders know. */
const aliases: Record<string, string> = {
  ibm437: 'cp437',
  ibm850: 'cp850',
  ibm852: 'cp852',
  cp932: 'shift_jis',
  cp936: 'gbk',
  cp949: 'euc-kr',
  uhc: 'euc-kr',
  cp950: 'big5',
  cp874: 'windows-874',
  cp10000: 'macintosh',
  cp1200: 'utf-16le',
  cp1201: 'utf-16be',
  cp65001: 'utf-8',
}

const CHUNK = 8192

/**
 * Decodes bytes of a named character set.
 * @param isFatal whether to return undefined for invalid bytes, instead of replacing them
 * @param isCut whether an incomplete character at the end is dropped
 * @returns undefined for an unknown name, too
 */
export function decodeAs(
  bytes: Uint8Array,
  charset: string,
  { isFatal = false, isCut = false } = {},
): string | undefined {
  const label = charset.trim().toLowerCase()
  const name = aliases[label] ?? label
  const upper = upperHalves[name]
  if (upper !== undefined) return fromUpperHalf(bytes, upper)
  try {
    // A decoder that dropped a character would remember it.
    const decoder = isCut ? new TextDecoder(name, { fatal: isFatal }) : decoderOf(name, isFatal)
    return decoder.decode(bytes, { stream: isCut })
  } catch {
    return undefined
  }
}

const decoders = new Map<string, TextDecoder>()

function decoderOf(name: string, fatal: boolean): TextDecoder {
  const key = `${name} ${fatal}`
  const decoder = decoders.get(key) ?? new TextDecoder(name, { fatal })
  decoders.set(key, decoder)
  return decoder
}

/** Decodes one byte per character. */
function fromUpperHalf(bytes: Uint8Array, upper: string): string {
  const parts: string[] = []
  for (let at = 0; at < bytes.length; at += CHUNK) {
    const codes = Array.from(bytes.subarray(at, at + CHUNK), byte =>
      byte < 0x80 ? byte : upper.charCodeAt(byte - 0x80),
    )
    parts.push(String.fromCharCode(...codes))
  }
  return parts.join('')
}
