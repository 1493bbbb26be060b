package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"strconv"
	"strings"
)

// sectionName stands for the name of a section in a map of sections.
const sectionName = "NAME"

// comments are the comments on settings and sections by dotted path.
type comments map[string]string

// fieldComments reads them from the files with the types of the Config tree. A field
// without one is an error.
func fieldComments(files ...string) (comments, error) {
	structs := make(map[string]*ast.StructType)
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				if s, ok := spec.Type.(*ast.StructType); ok {
					structs[spec.Name.Name] = s
				}
			}
			return true
		})
	}
	docs := make(comments)
	return docs, docs.add(structs, "Config", "")
}

// add adds the comments on the fields of one struct, and of those in it.
func (docs comments) add(structs map[string]*ast.StructType, name, prefix string) error {
	for _, f := range structs[name].Fields.List {
		if f.Tag == nil {
			continue // not a setting
		}
		tag, err := strconv.Unquote(f.Tag.Value)
		if err != nil {
			return err
		}
		path := prefix + reflect.StructTag(tag).Get("yaml")
		if docs[path] = strings.Join(strings.Fields(f.Doc.Text()), " "); docs[path] == "" {
			return fmt.Errorf("%s has no comment", path)
		}
		below, name := path+".", ""
		switch t := f.Type.(type) {
		case *ast.Ident:
			name = t.Name
		case *ast.MapType:
			if pointer, ok := t.Value.(*ast.StarExpr); ok {
				below, name = below+sectionName+".", pointer.X.(*ast.Ident).Name
			}
		}
		if structs[name] != nil {
			if err := docs.add(structs, name, below); err != nil {
				return err
			}
		}
	}
	return nil
}
