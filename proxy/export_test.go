package proxy

import "github.com/gofiber/fiber/v2"

// App returns the public app.
func (s *Server) App() *fiber.App { return s.app }

// AdminApp returns the operator's app.
func (s *Server) AdminApp() *fiber.App { return s.admin }
