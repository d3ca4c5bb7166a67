// Renders a chart as `helm template` does, with the template functions that Helm has: those of Go
// and sprig, and include, toYaml, toJson and fail. It reads values as JSON from the standard input,
// and prints the values and the objects as JSON.
//
//	GO111MODULE=off GOPATH=/usr/share/gocode go run test/helm/render.go docker/helm < values.json
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"gopkg.in/yaml.v3"
)

type object = map[string]interface{}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func readYaml(file string) object {
	text, err := os.ReadFile(file)
	check(err)
	result := object{}
	check(yaml.Unmarshal(text, &result))
	return result
}

// Values that are given replace those of the chart, key by key.
func overlay(base, given object) object {
	for key, value := range given {
		below, isObject := value.(object)
		if old, wasObject := base[key].(object); isObject && wasObject {
			base[key] = overlay(old, below)
		} else {
			base[key] = value
		}
	}
	return base
}

func main() {
	chart := os.Args[1]
	given := object{}
	check(json.NewDecoder(os.Stdin).Decode(&given))
	values := overlay(readYaml(filepath.Join(chart, "values.yaml")), given)
	about := readYaml(filepath.Join(chart, "Chart.yaml"))

	root := template.New("chart").Option("missingkey=zero")
	functions := sprig.TxtFuncMap()
	functions["include"] = func(name string, data interface{}) (string, error) {
		var out bytes.Buffer
		err := root.ExecuteTemplate(&out, name, data)
		return out.String(), err
	}
	functions["toYaml"] = func(value interface{}) (string, error) {
		text, err := yaml.Marshal(value)
		return strings.TrimSuffix(string(text), "\n"), err
	}
	root.Funcs(functions)

	files, err := filepath.Glob(filepath.Join(chart, "templates", "*"))
	check(err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		check(err)
		_, err = root.New(filepath.Base(file)).Parse(string(text))
		check(err)
	}
	data := object{
		"Values":  values,
		"Chart":   object{"Name": about["name"], "AppVersion": about["appVersion"]},
		"Release": object{"Name": "files", "Service": "Helm", "Namespace": "default"},
	}
	objects := []object{}
	for _, file := range files {
		if strings.HasPrefix(filepath.Base(file), "_") {
			continue
		}
		var out bytes.Buffer
		check(root.ExecuteTemplate(&out, filepath.Base(file), data))
		decoder := yaml.NewDecoder(&out)
		for {
			one := object{}
			err := decoder.Decode(&one)
			if err != nil && err.Error() == "EOF" {
				break
			}
			check(err)
			if len(one) > 0 {
				objects = append(objects, one)
			}
		}
	}
	check(json.NewEncoder(os.Stdout).Encode(object{"values": values, "objects": objects}))
}
