// A device plugin that offers GPUs which do not exist, through the kubelet's own interface.
//
// COUNT devices of RESOURCE. It registers whenever the kubelet makes its socket anew, so that the
// devices come back after a restart of the kubelet.
package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	api "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

const (
	endpoint = "fake-gpu.sock"
	lookFor  = 300 * time.Millisecond
	patience = 5 * time.Second
)

type gpus struct {
	api.UnimplementedDevicePluginServer
	devices []*api.Device
}

func (g *gpus) GetDevicePluginOptions(context.Context, *api.Empty) (*api.DevicePluginOptions, error) {
	return &api.DevicePluginOptions{}, nil
}

// ListAndWatch tells all devices once: none of them ever falls ill.
func (g *gpus) ListAndWatch(_ *api.Empty, stream api.DevicePlugin_ListAndWatchServer) error {
	if err := stream.Send(&api.ListAndWatchResponse{Devices: g.devices}); err != nil {
		return err
	}
	<-stream.Context().Done()
	return nil
}

// Allocate names the devices to the container, as a real plugin does.
func (g *gpus) Allocate(_ context.Context, asked *api.AllocateRequest) (*api.AllocateResponse, error) {
	answer := &api.AllocateResponse{}
	for _, container := range asked.ContainerRequests {
		answer.ContainerResponses = append(answer.ContainerResponses, &api.ContainerAllocateResponse{
			Envs: map[string]string{"NVIDIA_VISIBLE_DEVICES": strings.Join(container.DevicesIds, ",")},
		})
	}
	return answer, nil
}

func main() {
	count, err := strconv.Atoi(os.Getenv("COUNT"))
	resource := os.Getenv("RESOURCE")
	if err != nil || resource == "" {
		log.Fatal("COUNT and RESOURCE say how many devices of what there are")
	}
	plugin := &gpus{}
	for number := range count {
		device := &api.Device{ID: fmt.Sprintf("fake-gpu-%d", number), Health: api.Healthy}
		plugin.devices = append(plugin.devices, device)
	}
	stopped, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	keepRegistered(stopped, plugin, resource)
}

func keepRegistered(stopped context.Context, plugin *gpus, resource string) {
	var known os.FileInfo
	var server *grpc.Server
	for ; stopped.Err() == nil; pause(stopped) {
		found, err := os.Stat(api.KubeletSocket)
		if err != nil || isSame(known, found) {
			continue
		}
		if server != nil {
			server.Stop()
		}
		if server, err = serve(plugin); err == nil {
			err = register(stopped, resource)
		}
		if err != nil {
			log.Print(err)
			continue
		}
		known = found
		log.Printf("registered %d of %s", len(plugin.devices), resource)
	}
}

func pause(stopped context.Context) {
	select {
	case <-stopped.Done():
	case <-time.After(lookFor):
	}
}

func isSame(known, found os.FileInfo) bool {
	return known != nil && os.SameFile(known, found) && known.ModTime().Equal(found.ModTime())
}

func serve(plugin *gpus) (*grpc.Server, error) {
	path := filepath.Join(api.DevicePluginPath, endpoint)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	server := grpc.NewServer()
	api.RegisterDevicePluginServer(server, plugin)
	go server.Serve(listener)
	return server, nil
}

func register(stopped context.Context, resource string) error {
	plain := grpc.WithTransportCredentials(insecure.NewCredentials())
	connection, err := grpc.NewClient("unix://"+api.KubeletSocket, plain)
	if err != nil {
		return err
	}
	defer connection.Close()
	limited, done := context.WithTimeout(stopped, patience)
	defer done()
	_, err = api.NewRegistrationClient(connection).Register(limited, &api.RegisterRequest{
		Version:      api.Version,
		Endpoint:     endpoint,
		ResourceName: resource,
	})
	return err
}
