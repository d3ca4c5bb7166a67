import type cors from 'cors'

/** What pages of other origins may do. */
export const corsOptions = (origins: string[]): cors.CorsOptions => ({
  origin: origins,
  credentials: true,
  methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
  allowedHeaders: [
    'Content-Type',
    'X-API-Key',
    'X-Share-Password',
    'X-Sender-Token',
    'Content-MD5',
    'Range',
    'If-Range',
    'If-None-Match',
    'If-Match',
    'Prefer',
    'Last-Event-ID',
  ],
  exposedHeaders: [
    'X-Request-Id',
    'Retry-After',
    'RateLimit',
    'RateLimit-Policy',
    'ETag',
    'Content-Range',
    'Accept-Ranges',
    'Content-Disposition',
    'Allow',
    'Location',
    'Preference-Applied',
  ],
  maxAge: 600,
})
