import { encodeQR } from 'qr'
import { useMemo } from 'react'
import { Button } from '../parts/button.tsx'
import { copyLink } from '../parts/copy.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Copy } from '../parts/icons.ts'
import { text } from './text.ts'

/** The share link as a QR code, to scan with a phone. */
export function Code({ url, onClose }: { url: string; onClose: () => void }) {
  const modules = useMemo(() => encodeQR(url, 'raw', { ecc: 'medium', border: 4 }), [url])
  const path = modules
    .flatMap((line, y) => line.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')))
    .join('')
  return (
    <Dialog
      title={text('code')}
      isOpen
      onClose={onClose}
      footer={
        <Button onPress={() => void copyLink(url)}>
          <Copy />
          {text('copy')}
        </Button>
      }
    >
      <svg
        className="share-code"
        viewBox={`0 0 ${modules.length} ${modules.length}`}
        role="img"
        aria-label={text('codeOf', { url })}
        shapeRendering="crispEdges"
      >
        <path d={path} />
      </svg>
      <p className="share-address">{url}</p>
    </Dialog>
  )
}
