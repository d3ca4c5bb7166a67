{{- define "satchel.selector" -}}
app.kubernetes.io/name: satchel
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "satchel.labels" -}}
{{ include "satchel.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.labels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "satchel.annotations" -}}
{{- with .Values.annotations }}
annotations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
